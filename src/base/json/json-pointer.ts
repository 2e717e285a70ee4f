/** A name as a JSON Pointer (RFC 6901) has it between two slashes. */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The name that stands between two slashes of a JSON Pointer. */
export function nameOfPart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
