/** `text` in pieces of at most `size` UTF-16 units (one more where a surrogate pair would be split); lists are taken as they are. */
export function pieces(text: string | readonly string[] | undefined, size: number): readonly string[] {
  if (text === undefined || text === '') return []
  if (typeof text !== 'string') return text.filter((piece) => piece !== '')
  const result: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + size, text.length)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1
    result.push(text.slice(from, to))
    from = to
  }
  return result
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
