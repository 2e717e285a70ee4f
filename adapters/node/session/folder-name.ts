const mark = '+'
// Names that Windows keeps for devices, whatever follows a dot.
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/
const lowerCaseId = /^[a-z0-9_-][a-z0-9._-]{0,199}$/

/**
 * The folder of a session: its id, where that is safe on every file system.
 *
 * **Contract**
 * - Two ids never share a folder, also where the file system takes `A` for `a`: an id with upper-case letters is written in lower case,
 *   then `+` and a hexadecimal number whose bits, from the left, say which characters are upper case (`Case-1` is `case-1+8`).
 * - An id that ends in a dot gets a `+`, and one that Windows takes for a device starts with one.
 * - At most 252 characters. Ids were checked: they hold no `+`.
 */
export function folderOf(sessionId: string): string {
  const lower = sessionId.toLowerCase()
  const tail = lower === sessionId ? (lower.endsWith('.') ? mark : '') : mark + caseBits(sessionId)
  return (device.test(lower) ? mark : '') + lower + tail
}

/** The id behind a folder's name, or `undefined` for a name that `folderOf` does not make. */
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
