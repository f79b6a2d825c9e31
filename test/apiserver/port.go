package apiserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

const loopback = "127.0.0.1"

// A port is reserved by the kernel. A socket that is bound but never listens holds it: the kernel
// assigns the port to no other process, no connection arrives here, and a process that also sets
// SO_REUSEPORT can listen. No other process can therefore take it, even while the server restarts.
type port struct {
	number int
	socket int
}

func reservePort() (port, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	number, err := bindAnyPort(socket)
	if err != nil {
		return port{}, errors.Join(fmt.Errorf("reserving a port: %w", err), unix.Close(socket))
	}
	return port{number: number, socket: socket}, nil
}

func bindAnyPort(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(loopback).To4())}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	bound, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("the socket has the address %v", name)
	}
	return bound.Port, nil
}

// address returns the port with its host.
func (p port) address() string { return net.JoinHostPort(loopback, strconv.Itoa(p.number)) }

func (p port) release() error { return unix.Close(p.socket) }
