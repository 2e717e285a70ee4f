const single: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
}

/** Decodes the content of `$'…'` like bash. */
export function ansiText(text: string): string {
  const escapes = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))/gs
  const decoded = text.replace(escapes, (all, hex, short, long, octal, control, letter) => {
    const digits = hex ?? short ?? long
    if (digits !== undefined) return character(Number.parseInt(digits, 16))
    if (octal !== undefined) return character(Number.parseInt(octal, 8) & 255)
    if (control !== undefined) return character(control.charCodeAt(0) & 31)
    return single[letter] ?? all
  })
  // The text ends at the same position as in bash.
  return decoded.split('\0', 1)[0] ?? ''
}

function character(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
