#!/usr/bin/env bash
# What the clients of other languages are made with: Debian's compilers for Go and C++, and Node with the packages of
# clients/node/package-lock.json. Installs what is missing when we are root; says what to do otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

gocode=/usr/share/gocode/src
packages=()
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
command -v go >/dev/null || packages+=(golang-go)
command -v protoc-gen-go >/dev/null || packages+=(protoc-gen-go)
command -v protoc-gen-go-grpc >/dev/null || packages+=(protoc-gen-go-grpc)
[ -d "$gocode/google.golang.org/grpc" ] || packages+=(golang-google-grpc-dev)
[ -d "$gocode/google.golang.org/protobuf" ] || packages+=(golang-google-protobuf-dev)
[ -d "$gocode/google.golang.org/genproto" ] || packages+=(golang-google-genproto-dev)
# Debian has two golang/protobuf. The other, 1.3, loses oneofs of today's stubs.
[ -d "$gocode/github.com/golang/protobuf/internal/gengogrpc" ] || packages+=(golang-github-golang-protobuf-1-5-dev)
command -v g++ >/dev/null || packages+=(g++)
command -v cmake >/dev/null || packages+=(cmake)
command -v pkg-config >/dev/null || packages+=(pkg-config)
command -v protoc >/dev/null || packages+=(protobuf-compiler)
command -v grpc_cpp_plugin >/dev/null || packages+=(protobuf-compiler-grpc)
[ -f /usr/include/grpcpp/grpcpp.h ] || packages+=(libgrpc++-dev)

if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    cat >&2 <<TEXT
make: the clients of other languages need what is not installed here.
make: on Debian or Ubuntu:  sudo apt-get install --no-install-recommends ${packages[*]}
make: one language alone:   .venv/bin/python -m tools.clients go     (or node, web, cpp)
TEXT
    exit 1
  fi
  echo "clients: installing ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null </dev/null
fi

# By the lock, exactly; again only when the lock is another. Their install scripts have nothing that we need.
lock=clients/node/package-lock.json
installed=clients/node/node_modules/.stemma-lock
if ! cmp -s "$lock" "$installed"; then
  echo "clients: installing the packages of $lock"
  (cd clients/node && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >/dev/null)
  cp "$lock" "$installed"
fi
