// Whether what no program changes is compiled with each file, as is usual, or once: in the library parallax::runtime,
// which files are linked with then.
#pragma once

// To be 1 in all files of a process that are linked with the library; its target says so.
#ifndef PARALLAX_LINKED_RUNTIME
#define PARALLAX_LINKED_RUNTIME 0
#endif

// Where files have no definitions of what the library has, PARALLAX_RUNTIME_FUNCTION declares it. The library's source
// sets PARALLAX_RUNTIME_SOURCE and has them.
#if !PARALLAX_LINKED_RUNTIME
#define PARALLAX_RUNTIME_FUNCTION inline
#define PARALLAX_DEFINES_RUNTIME 1
#elif defined(PARALLAX_RUNTIME_SOURCE)
#define PARALLAX_RUNTIME_FUNCTION
#define PARALLAX_DEFINES_RUNTIME 1
#else
#define PARALLAX_RUNTIME_FUNCTION
#define PARALLAX_DEFINES_RUNTIME 0
#endif
