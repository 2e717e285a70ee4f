import { afterEach, describe, expect, it } from 'vitest'
import { seccompFilter } from '../../../../adapters/node/bash/seccomp.ts'

// What the kernel of another processor would do cannot be tried here, so its machine is played: classic BPF over `struct seccomp_data`.

type Machine = keyof typeof machines

// Numbers of include/uapi/asm-generic/unistd.h (arm64) and arch/x86/entry/syscalls/syscall_64.tbl.
const machines = {
  x64: {
    audit: 0xc000003e,
    allowed: { read: 0, write: 1, mmap: 9, clone: 56, execve: 59, openat: 257, futex: 202, connect: 42, kill: 62 },
    modes: { chmod: [90, 1], fchmod: [91, 1], fchmodat: [268, 2], mknod: [133, 1], mkdir: [83, 1], mkdirat: [258, 2], creat: [85, 1] },
    open: 257,
    socket: 41,
    socketpair: 53,
    refused: {
      ...{ keyctl: 250, add_key: 248, request_key: 249, bpf: 321, perf_event_open: 298, userfaultfd: 323 },
      ...{ ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, pidfd_getfd: 438, kcmp: 312 },
      ...{ unshare: 272, setns: 308, mount: 165, umount2: 166, pivot_root: 155, mount_setattr: 442 },
      ...{ name_to_handle_at: 303, open_by_handle_at: 304, fanotify_init: 300 },
      ...{ init_module: 175, finit_module: 313, delete_module: 176, kexec_load: 246, kexec_file_load: 320, reboot: 169 },
      ...{ swapon: 167, swapoff: 168, acct: 163, quotactl: 179, syslog: 103, clock_settime: 227, settimeofday: 164, adjtimex: 159 },
      ...{ iopl: 172, ioperm: 173, modify_ldt: 154 },
    },
  },
  arm64: {
    audit: 0xc00000b7,
    allowed: { read: 63, write: 64, mmap: 222, clone: 220, execve: 221, openat: 56, futex: 98, connect: 203, kill: 129 },
    modes: { fchmod: [52, 1], fchmodat: [53, 2], fchmodat2: [452, 2], mknodat: [33, 2], mkdirat: [34, 2] },
    open: 56,
    socket: 198,
    socketpair: 199,
    refused: {
      ...{ keyctl: 219, add_key: 217, request_key: 218, bpf: 280, perf_event_open: 241, userfaultfd: 282 },
      ...{ ptrace: 117, process_vm_readv: 270, process_vm_writev: 271, pidfd_getfd: 438, kcmp: 272 },
      ...{ unshare: 97, setns: 268, mount: 40, umount2: 39, pivot_root: 41, mount_setattr: 442 },
      ...{ name_to_handle_at: 264, open_by_handle_at: 265, fanotify_init: 262 },
      ...{ init_module: 105, finit_module: 273, delete_module: 106, kexec_load: 104, kexec_file_load: 294, reboot: 142 },
      ...{ swapon: 224, swapoff: 225, acct: 89, quotactl: 60, syslog: 116, clock_settime: 112, settimeofday: 170, adjtimex: 171 },
    },
  },
} as const
/** The same everywhere: all that came since 2019. */
const common = {
  ...{ io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 },
  ...{ open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433 },
}

const [allow, eperm, kill] = [0x7fff0000, 0x00050001, 0x80000000]
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16, packet: 17, vsock: 40 }
const types = { stream: 1, datagram: 2, seqpacket: 5 }
const [nonblock, cloexec] = [0o4000, 0o2000000]

const arch = process.arch
afterEach(() => {
  Object.defineProperty(process, 'arch', { value: arch })
})

/** What the filter of `machine` decides about one system call. */
function verdictOf(machine: Machine, number: number, args: readonly number[] = [], audit: number = machines[machine].audit): number {
  Object.defineProperty(process, 'arch', { value: machine })
  const filter = seccompFilter()
  if (filter === undefined) throw new Error(`no filter for ${machine}`)
  const code = new DataView(filter.buffer)
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, number, true)
  data.setUint32(4, audit, true)
  for (const [index, value] of args.entries()) data.setUint32(16 + index * 8, value, true)
  let word = 0
  for (let at = 0; at < filter.byteLength / 8; at++) {
    const [operation, ifTrue, ifFalse] = [code.getUint16(at * 8, true), code.getUint8(at * 8 + 2), code.getUint8(at * 8 + 3)]
    const value = code.getUint32(at * 8 + 4, true)
    if (operation === 0x06) return value
    if (operation === 0x20) word = data.getUint32(value, true)
    else if (operation === 0x54) word = (word & value) >>> 0
    else if (operation === 0x45) at += (word & value) !== 0 ? ifTrue : ifFalse
    else if (operation === 0x15) at += word === value ? ifTrue : ifFalse
    else if (operation === 0x35) at += word >= value ? ifTrue : ifFalse
    else throw new Error(`instruction ${at} has the code ${operation}`)
  }
  throw new Error('the filter ends without a verdict')
}

describe.each(['x64', 'arm64'] as const)('the seccomp filter of %s', (machine) => {
  const { refused, allowed, socket, socketpair } = machines[machine]

  it('blocks system calls that bypass the sandbox', () => {
    const wrong = Object.entries({ ...refused, ...common }).filter(([, number]) => verdictOf(machine, number) !== eperm)
    expect(wrong).toEqual([])
  })

  it('blocks setuid and setgid modes', () => {
    const argsOf = (position: number, mode: number) => Array.from({ length: 4 }, (_, at) => (at === position ? mode : 0))
    for (const [name, [number, position]] of Object.entries(machines[machine].modes)) {
      for (const mode of [0o4755, 0o2755, 0o6777]) expect(verdictOf(machine, number, argsOf(position, mode)), name).toBe(eperm)
      expect(verdictOf(machine, number, argsOf(position, 0o1777)), name).toBe(allow)
    }
    const { open } = machines[machine]
    expect([0o101, 0o20200001].map((flags) => verdictOf(machine, open, [0, 0, flags, 0o4755]))).toEqual([eperm, eperm])
    // Without a file to create there is no mode, whatever stands in its place.
    expect([verdictOf(machine, open, [0, 0, 0, 0o4755]), verdictOf(machine, open, [0, 0, 0o101, 0o644])]).toEqual([allow, allow])
    expect(verdictOf(machine, 437)).toBe(0x00050026)
  })

  it('allows system calls that programs need', () => {
    expect(Object.entries(allowed).filter(([, number]) => verdictOf(machine, number) !== allow)).toEqual([])
  })

  it('allows sockets only in the network namespace', () => {
    const open = Object.entries(families).filter(([, family]) => verdictOf(machine, socket, [family, types.stream]) === allow)
    expect(open.map(([name]) => name)).toEqual(['inet', 'inet6', 'netlink'])
    expect(verdictOf(machine, socket, [families.unix, types.stream])).toBe(eperm)
  })

  it('allows only stream and seqpacket socket pairs, with any flags', () => {
    for (const flags of [0, nonblock, cloexec, nonblock | cloexec]) {
      const made = Object.entries(types).filter(([, type]) => verdictOf(machine, socketpair, [families.unix, type | flags]) === allow)
      expect(made.map(([name]) => name)).toEqual(['stream', 'seqpacket'])
    }
  })

  it("kills a caller that uses another architecture's system calls", () => {
    for (const audit of [0x40000003, 0x40000028, machine === 'x64' ? machines.arm64.audit : machines.x64.audit])
      expect(verdictOf(machine, allowed.read, [], audit)).toBe(kill)
  })
})

it('kills a caller that uses x32 system calls', () => {
  expect([0x3fffffff, 0x40000000, 0x40000000 + 521, 0xffffffff].map((number) => verdictOf('x64', number))).toEqual([
    allow,
    kill,
    kill,
    kill,
  ])
})
