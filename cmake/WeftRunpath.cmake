# The folders in which binaries look for shared libraries: the same in the build
# folder and installed, relative to the binary. CMake's own scheme writes the build
# folder's path followed by ':' and replaces it at installation; the dynamic
# loader reads the empty element after that ':' as the current directory.
include(GNUInstallDirs)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # LLVM's folder
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib" "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)
