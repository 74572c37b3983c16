import Foundation

/// Programs in Python that try to be taken for an installed app.
enum AttackScript {
  /// Frames, and the disguise of a process as another program.
  private static let library = """
    import array, ctypes, os, socket, struct, sys, time

    def frame(operation, request, body): return struct.pack('<IHHQ', len(body), 1, operation, request) + body
    status = lambda request: frame(1, request, bytes(6))
    items = lambda request: frame(5, request, struct.pack('<IHI', 0, 1, 0))
    # What returns the number of a challenge has the same content as the challenge.
    response = lambda challenge: frame(15, 0, challenge)
    names = {128: 'done', 130: 'failed', 132: 'challenge'}

    def connected(path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection
    def receive(connection):
        try: head = connection.recv(16, socket.MSG_WAITALL)
        except ConnectionResetError: head = b''
        if len(head) < 16: return None, 'closed', b''
        count, version, operation, request = struct.unpack('<IHHQ', head)
        body = connection.recv(count, socket.MSG_WAITALL)
        return request, 'missingEntitlement' if b'missingEntitlement' in body else names.get(operation, str(operation)), body
    def tell(*words): print(*words, flush=True)
    def send_with_descriptor(connection, content):
        rights = array.array('i', [os.open('/dev/null', os.O_RDONLY)])
        connection.sendmsg([content], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    def ask(connection):
        connection.sendall(items(1))
        _, answer, body = receive(connection)
        if answer == 'challenge':
            send_with_descriptor(connection, response(body))
            connection.sendall(items(1))
            _, answer, body = receive(connection)
        return answer

    libc = ctypes.CDLL(None, use_errno=True)
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    libc.mmap.restype = libc.mremap.restype = libc.sbrk.restype = pointer
    libc.mmap.argtypes = [pointer, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mremap.argtypes = [pointer, size, size, ctypes.c_int, pointer]
    libc.mprotect.argtypes = [pointer, size, ctypes.c_int]
    libc.memcpy.argtypes = [pointer, pointer, size]
    libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4

    # The process was started by `loader`, a copy of the dynamic loader. The kernel names another program for it only if nothing of the first
    # one is mapped: each of its mappings is replaced by memory of the same content.
    def disguise(loader, other):
        for line in open('/proc/self/maps').read().split('\\n'):
            words = line.split()
            if not words or words[-1] != os.path.realpath(loader): continue
            start, end = (int(word, 16) for word in words[0].split('-'))
            rights = sum(bit for letter, bit in zip('rwx', (1, 2, 4)) if letter in words[1])
            copy = libc.mmap(None, end - start, 3, 0x22, -1, 0)
            libc.memcpy(copy, start, end - start)
            libc.mprotect(copy, end - start, rights)
            libc.mremap(copy, end - start, end - start, 3, start)
        text = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
        field = lambda number: int(text[number - 3])
        file = os.open(other, os.O_RDONLY)
        # struct prctl_mm_map: all as it is, but for the descriptor of the program.
        block = struct.pack(
            '<12QII', field(26), field(27), field(45), field(46), field(47), libc.sbrk(0), field(28), field(48), field(49), field(50),
            field(51), 0, 0, file)
        content = ctypes.create_string_buffer(block, len(block))
        if libc.prctl(35, 14, ctypes.addressof(content), len(block), 0): raise OSError(ctypes.get_errno(), 'PR_SET_MM_MAP')
        os.close(file)

    """

  /// Takes the name of the app in its own process, and asks. Arguments: the loader's copy, the app, the socket.
  static let disguised = """
    disguise(sys.argv[1], sys.argv[2])
    tell(os.readlink('/proc/self/exe') == os.path.realpath(sys.argv[2]))
    tell(ask(connected(sys.argv[3])))
    """

  /// The same, by a child in a user namespace of its own that shares the memory of this process.
  static let disguisedByChild = """
    function = ctypes.CFUNCTYPE(ctypes.c_int, pointer)
    libc.clone.argtypes = [function, pointer, ctypes.c_int, pointer]
    stack = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
    @function
    def child(_):
        disguise(sys.argv[1], sys.argv[2])
        libc.syscall(60, 0)
        return 0
    # CLONE_VM, CLONE_VFORK, CLONE_NEWUSER, SIGCHLD
    libc.clone(child, stack + (1 << 20), 0x100 | 0x4000 | 0x10000000 | 17, None)
    tell(os.readlink('/proc/self/exe') == os.path.realpath(sys.argv[2]))
    tell(ask(connected(sys.argv[3])))
    """

  /// Connects, becomes the app as a filter whose output is the connection, and sends requests through it from a child. Arguments: the socket,
  /// the app, which part of the response is sent before that, and how long its content is.
  static let filter = """
    kept = connected(sys.argv[1])
    app, early = os.path.realpath(sys.argv[2]), sys.argv[3]
    source, sink = os.pipe()
    process = os.getpid()
    if os.fork() == 0:
        while os.readlink(f'/proc/{process}/exe') != app: time.sleep(0.001)
        tell('here')
        tell(*receive(kept)[:2])
        request, answer, body = receive(kept)
        tell(request, answer)
        if answer == 'challenge': os.write(sink, {'nothing': response(body), 'all': b''}.get(early, response(body)[16:]))
        os.write(sink, items(3))
        while answer != 'closed':
            request, answer, body = receive(kept)
            tell(request, answer)
            if request == 3: break
        os._exit(0)
    kept.sendall(status(1) + items(2))
    guess = response(bytes(int(sys.argv[4])))
    if early == 'header': kept.sendall(guess[:16])
    if early == 'header with descriptor': send_with_descriptor(kept, guess[:16])
    if early == 'all': send_with_descriptor(kept, guess)
    os.dup2(source, 0)
    os.dup2(kept.fileno(), 1)
    os.execv(app, ['app', 'copy'])
    """

  /// Gets a connection as descriptor 3 on which the app was challenged. Returns the number, asks, and becomes the app while a child waits for
  /// the answers. Arguments: the app, the socket, a file to be made before that, the response in hexadecimal digits.
  static let successor = """
    kept = socket.socket(fileno=3)
    send_with_descriptor(kept, bytes.fromhex(sys.argv[4]))
    kept.sendall(status(8))
    tell(*receive(kept)[:2])
    if os.fork() == 0:
        tell(*receive(kept)[:2])
        os._exit(0)
    open(sys.argv[3], 'w').close()
    kept.sendall(items(9))
    os.execv(sys.argv[1], ['app', 'await', sys.argv[2]])
    """

  /// Serves a file system (FUSE) in a mount namespace of its own, with one file: the agent reads the app, the kernel runs the other program.
  /// Arguments: a directory, the app, a program of the same length, the process of the agent, the socket.
  static let fileSystem = """
    import threading
    directory, app, other, agent, path = sys.argv[1:]
    contents = [open(name, 'rb').read() for name in (other, app)]
    assert len(contents[0]) == len(contents[1])
    device = os.open('/dev/fuse', os.O_RDWR)
    options = f'fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other'
    if libc.mount(b'fuse', directory.encode(), b'fuse', 0, options.encode()): raise OSError(ctypes.get_errno(), 'mount')
    def attributes(node):
        mode, length = (0o40755, 0) if node == 1 else (0o100755, len(contents[0]))
        return struct.pack('<6Q10I', node, length, 0, 0, 0, 0, 0, 0, 0, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0)
    def is_agent(thread):
        try: lines = open(f'/proc/{thread}/status').read().split('\\n')
        except OSError: return False
        return f'Tgid:\\t{agent}' in lines
    def serve():
        while True:
            request = os.read(device, 1 << 20)
            count, code, number, node, user, group, thread, _ = struct.unpack_from('<IIQQIIII', request)
            error, answer = 0, b''
            if code == 26: answer = struct.pack('<4I2H2I2H8I', 7, 31, 1 << 17, 0, 16, 12, 1 << 17, 1, 32, 0, *[0] * 8)
            elif code == 1 and request[40:count] != b'program\\0': error = -2
            elif code == 1: answer = struct.pack('<4Q2I', 2, 0, 1000, 1000, 0, 0) + attributes(2)
            elif code == 3: answer = struct.pack('<Q2I', 1000, 0, 0) + attributes(node)
            # Not through the page cache.
            elif code == 14: answer = struct.pack('<Q2I', 0, 1, 0)
            elif code == 15:
                _, offset, length = struct.unpack_from('<QQI', request, 40)
                answer = contents[is_agent(thread)][offset:offset + length]
            elif code in (18, 25): pass
            elif code in (2, 42): continue
            else: error = -38
            os.write(device, struct.pack('<IiQ', 16 + len(answer), error, number) + answer)
    # Not in one process: while it waits for a file that it serves itself, nobody can end it.
    process = os.fork()
    if process == 0:
        os.close(device)
        os.execv(directory + '/program', ['program', 'once', path])
    threading.Thread(target=serve, daemon=True).start()
    os.waitpid(process, 0)
    os._exit(0)
    """

  /// - Returns: The words that run it with what `arguments` follow.
  static func write(_ script: String, in directory: URL) throws -> [String] {
    let file = directory.appending(path: "attack-\(UUID().uuidString.prefix(8)).py")
    try (library + script).write(to: file, atomically: false, encoding: .utf8)
    return ["/usr/bin/python3", file.path]
  }
}
