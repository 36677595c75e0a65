"""Receives sd_notify messages on a Unix datagram socket, as systemd does, and prints each as one line."""

import array
import os
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("listening", flush=True)
while True:
    message, ancillary, _flags, _sender = receiver.recvmsg(4096, socket.CMSG_SPACE(64))
    for _level, kind, data in ancillary:
        if kind == socket.SCM_RIGHTS:
            # A barrier: closing its descriptor tells the sender that all before it was read.
            for descriptor in array.array("i", data):
                os.close(descriptor)
    print(message.decode().strip().replace("\n", " "), flush=True)
