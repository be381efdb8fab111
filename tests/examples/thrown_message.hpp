// The text of the exception that a call throws.
#pragma once

#include <string>

/// Calls `function` and returns what the `Error` it throws says; "nothing thrown" where it throws none.
template <class Error, class Function> std::string thrown_message(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}
