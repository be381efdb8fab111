# Finds OpenBLAS through its C interface.
#
#   CBLAS::CBLAS                       the imported target
#   CBLAS_INCLUDE_DIR, CBLAS_LIBRARY   where it was found, to be set by hand where it is not
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas openblas-pthread)
find_library(CBLAS_LIBRARY openblas PATH_SUFFIXES openblas openblas-pthread)
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CBLAS
  REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install OpenBLAS (Debian: libopenblas-dev), or set CBLAS_INCLUDE_DIR and CBLAS_LIBRARY")

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS UNKNOWN IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES IMPORTED_LOCATION "${CBLAS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                     "${CBLAS_INCLUDE_DIR}")
endif()
