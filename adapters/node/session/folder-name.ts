const mark = '+'
// Device names reserved by Windows, with any extension.
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/
const lowerCaseId = /^[a-z0-9_-][a-z0-9._-]{0,199}$/

/**
 * Returns a session's folder name, which is its id if that is safe on every file system.
 *
 * **Contract**
 * - Two ids never share a folder, even on case-insensitive file systems. An id with upper-case letters is written in lower case, followed
 *   by `+` and a hexadecimal number whose bits, from the left, mark the upper-case characters (`Case-1` becomes `case-1+8`).
 * - An id that ends in a dot gets the suffix `+`. An id that is a Windows device name gets the prefix `+`.
 * - At most 252 characters. Expects validated ids, which contain no `+`.
 */
export function folderOf(sessionId: string): string {
  const lower = sessionId.toLowerCase()
  const tail = lower === sessionId ? (lower.endsWith('.') ? mark : '') : mark + caseBits(sessionId)
  return (device.test(lower) ? mark : '') + lower + tail
}

/** Returns the id for a folder name, or `undefined` for a name that `folderOf` never returns. */
export function sessionIdOf(folder: string): string | undefined {
  const [lower = '', bits = '', ...rest] = (folder.startsWith(mark) ? folder.slice(1) : folder).split(mark)
  if (rest.length > 0 || !lowerCaseId.test(lower)) return undefined
  const sessionId = lower.replace(/[a-z]/g, (letter, at: number) => (isUpper(bits, at) ? letter.toUpperCase() : letter))
  return folderOf(sessionId) === folder ? sessionId : undefined
}

function caseBits(sessionId: string): string {
  let digits = ''
  for (let at = 0; at < sessionId.length; at += 4) {
    let digit = 0
    for (const character of sessionId.slice(at, at + 4).padEnd(4)) digit = digit * 2 + (character >= 'A' && character <= 'Z' ? 1 : 0)
    digits += digit.toString(16)
  }
  return digits.replace(/0+$/, '')
}

function isUpper(bits: string, at: number): boolean {
  const digit = Number.parseInt(bits.charAt(at >> 2) || '0', 16)
  return ((digit >> (3 - (at & 3))) & 1) === 1
}
