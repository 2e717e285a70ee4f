import { endianness } from 'node:os'

// Instruction codes of classic BPF, and what the kernel makes of the verdict.
const loadWord = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const give = 0x06
const allow = 0x7fff0000
const refuse = 0x00050001 // EPERM
const killProcess = 0x80000000

// Offsets in `struct seccomp_data`.
const callNumber = 0
const architecture = 4
const firstArgument = 16

interface Machine {
  audit: number
  socket: number
  /** Kernel keyrings, which no namespace hides, and interfaces that reach around this filter. */
  refused: readonly number[]
  /** From this number on calls belong to another calling convention. */
  foreignFrom?: number
}

// keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, io_uring_setup, _enter, _register
const machines: Partial<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, socket: 41, refused: [250, 248, 249, 321, 298, 323, 425, 426, 427], foreignFrom: 0x40000000 },
  arm64: { audit: 0xc00000b7, socket: 198, refused: [219, 217, 218, 280, 241, 282, 425, 426, 427] },
}

// unix, inet, inet6, netlink: all of them live in the network namespace. Others (vsock) reach the host.
const socketFamilies = [1, 2, 10, 16]

/**
 * The system-call filter of the sandbox as bubblewrap wants it, or undefined on a processor it is not written for.
 *
 * It refuses socket families that ignore the network namespace, kernel keyrings, io_uring, bpf, perf and userfaultfd, and kills a
 * process that calls in a foreign convention (32-bit programs). Source: reference/reliability.md §5, 11.
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
  list.push([jumpIfEqual, 1, 0, machine.socket], [give, 0, 0, allow], [loadWord, 0, 0, firstArgument])
  for (const family of socketFamilies) list.push([jumpIfEqual, 0, 1, family], [give, 0, 0, allow])
  list.push([give, 0, 0, refuse])
  return list
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
