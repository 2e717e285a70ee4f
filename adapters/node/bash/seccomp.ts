import { endianness } from 'node:os'

// Instruction codes of classic BPF, and return values of a seccomp filter.
const loadWord = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfAnySet = 0x45
const and = 0x54
const give = 0x06
const allow = 0x7fff0000
const refuse = 0x00050001 // EPERM
const unknownCall = 0x00050026 // ENOSYS
const killProcess = 0x80000000

// Offsets in `struct seccomp_data`.
const callNumber = 0
const architecture = 4
const firstArgument = 16
const secondArgument = 24
const thirdArgument = 32
const fourthArgument = 40

/** The mode bits set-user-id and set-group-id. */
const setIdBits = 0o6000
/** Open flags that add a mode argument to the call. */
const creates = 0o100 | 0o20000000

/** A system call that sets a file mode, and the positions of its arguments. */
interface ModeCall {
  call: number
  mode: number
  /** The flags argument, for a call that creates only with some flags. */
  flags?: number
}

interface Machine {
  audit: number
  socket: number
  socketpair: number
  /** chmod and variants, mknod, mkdir, creat, open. */
  modes: readonly ModeCall[]
  /** In the order of `refusedCalls`. */
  refused: readonly number[]
  /** Calls from this number on belong to another calling convention. */
  foreignFrom?: number
}

const machines: Partial<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    modes: [
      ...[90, 91, 133, 83, 85].map((call) => ({ call, mode: secondArgument })), // chmod, fchmod, mknod, mkdir, creat
      ...[268, 452, 259, 258].map((call) => ({ call, mode: thirdArgument })), // fchmodat, fchmodat2, mknodat, mkdirat
      { call: 2, mode: thirdArgument, flags: secondArgument }, // open
      { call: 257, mode: fourthArgument, flags: thirdArgument }, // openat
    ],
    refused: [
      ...[250, 248, 249], // keyctl, add_key, request_key: keyrings, which no namespace hides
      ...[321, 298, 323, 425, 426, 427], // bpf, perf_event_open, userfaultfd, io_uring_setup, _enter, _register: around this filter
      ...[101, 310, 311, 438, 312], // ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, kcmp: into other processes
      ...[272, 308, 165, 166, 155, 428, 429, 430, 431, 432, 433, 442], // unshare, setns, mount and its like: other namespaces
      ...[303, 304, 300], // name_to_handle_at, open_by_handle_at, fanotify_init: files without a path
      ...[175, 313, 176, 246, 320, 169, 167, 168, 163, 179, 103, 227, 164, 159], // modules, kexec, reboot, swap, accounting, quotas, log, clocks
      ...[172, 173, 154], // iopl, ioperm, modify_ldt
    ],
    foreignFrom: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    modes: [
      { call: 52, mode: secondArgument }, // fchmod
      ...[53, 452, 33, 34].map((call) => ({ call, mode: thirdArgument })), // fchmodat, fchmodat2, mknodat, mkdirat
      { call: 56, mode: fourthArgument, flags: thirdArgument }, // openat
    ],
    // The same calls in the same order. iopl, ioperm and modify_ldt do not exist.
    refused: [
      ...[219, 217, 218],
      ...[280, 241, 282, 425, 426, 427],
      ...[117, 270, 271, 438, 272],
      ...[97, 268, 40, 39, 41, 428, 429, 430, 431, 432, 433, 442],
      ...[264, 265, 262],
      ...[105, 273, 106, 104, 294, 142, 224, 225, 89, 60, 116, 112, 170, 171],
    ],
  },
}

// inet, inet6 and netlink respect the network namespace. Others (vsock) reach the host, as does unix through a socket file in the
// workspace.
const socketFamilies = [2, 10, 16]

// stream and seqpacket, with and without flags, because such a pair stays connected to itself. A datagram socket can write to any address.
const pairTypes = [1, 5]

/**
 * Returns the system-call filter for bubblewrap, or `undefined` on an unsupported processor.
 *
 * The filter rejects Unix sockets, socket families that ignore the network namespace, ptrace and the like, mounts, namespaces, kernel
 * keyrings, io_uring, bpf, perf, userfaultfd, and modes with the set-user-id or set-group-id bit. It kills 32-bit programs.
 */
export function seccompFilter(): Uint8Array | undefined {
  const machine = machines[process.arch]
  return machine === undefined ? undefined : assemble(instructionsFor(machine))
}

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

function instructionsFor(machine: Machine): Instruction[] {
  const list: Instruction[] = [
    [loadWord, 0, 0, architecture],
    [jumpIfEqual, 1, 0, machine.audit],
    [give, 0, 0, killProcess],
    [loadWord, 0, 0, callNumber],
  ]
  if (machine.foreignFrom !== undefined) list.push([jumpIfAtLeast, 0, 1, machine.foreignFrom], [give, 0, 0, killProcess])
  for (const call of machine.refused) list.push([jumpIfEqual, 0, 1, call], [give, 0, 0, refuse])
  // openat2 takes its mode from memory, which a filter cannot read. Programs fall back to openat.
  list.push([jumpIfEqual, 0, 1, openat2], [give, 0, 0, unknownCall])
  for (const call of machine.modes) list.push(...withoutSetId(call))
  const pairs: Instruction[] = [[loadWord, 0, 0, secondArgument], [and, 0, 0, 0xf], ...allowOnly(pairTypes)]
  list.push([jumpIfEqual, 0, pairs.length, machine.socketpair], ...pairs)
  list.push([jumpIfEqual, 1, 0, machine.socket], [give, 0, 0, allow], [loadWord, 0, 0, firstArgument], ...allowOnly(socketFamilies))
  return list
}

const openat2 = 437

/** Rejects a call with a set-id bit: a host user who runs the file would get its owner's rights. */
function withoutSetId({ call, mode, flags }: ModeCall): Instruction[] {
  const check: Instruction[] = [
    [loadWord, 0, 0, mode],
    [jumpIfAnySet, 0, 1, setIdBits],
    [give, 0, 0, refuse],
    [give, 0, 0, allow],
  ]
  const whole: Instruction[] =
    flags === undefined ? check : [[loadWord, 0, 0, flags], [jumpIfAnySet, 0, check.length - 1, creates], ...check]
  return [[jumpIfEqual, 0, whole.length, call], ...whole]
}

function allowOnly(values: readonly number[]): Instruction[] {
  return [
    ...values.flatMap((value): Instruction[] => [
      [jumpIfEqual, 0, 1, value],
      [give, 0, 0, allow],
    ]),
    [give, 0, 0, refuse],
  ]
}

function assemble(instructions: readonly Instruction[]): Uint8Array {
  const littleEndian = endianness() === 'LE'
  const view = new DataView(new ArrayBuffer(instructions.length * 8))
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    view.setUint16(index * 8, code, littleEndian)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value, littleEndian)
  }
  return new Uint8Array(view.buffer)
}
