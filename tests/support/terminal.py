"""Runs a program in a terminal of its own: terminal.py COLUMNS ROWS PROGRAM... Copies what it prints; each line of the standard input
is a signal to send to it, by number, "key" and a key to press, or "close" for the terminal itself. Prints its exit code at the end."""
import fcntl, os, pty, select, struct, sys, termios

columns, rows, *program = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
    os.execvp(program[0], program)
sources = [terminal, 0]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b""
        if not data:
            sources.remove(source)
        elif source == terminal:
            os.write(1, data)
        elif data.startswith(b"key "):
            os.write(terminal, data[4:5])
        elif data.startswith(b"close"):
            os.close(terminal)
            sources.remove(terminal)
            break
        else:
            os.kill(child, int(data.split()[0]))
print("exit", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
