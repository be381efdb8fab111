# Finds OpenBLAS, by the names that systems give it, or else BLIS or the reference library, through their C interface. Of
# others, such as MKL, the variables say where they are.
#
#   CBLAS::CBLAS                       the imported target
#   CBLAS_INCLUDE_DIR, CBLAS_LIBRARY   where it was found, to be set by hand where it is not
set(cblas_folders openblas openblas-pthread openblas-openmp openblas-serial blis)
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${cblas_folders})
find_library(CBLAS_LIBRARY NAMES openblas openblasp openblaso blis cblas PATH_SUFFIXES ${cblas_folders})
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
