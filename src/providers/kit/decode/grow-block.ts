/**
 * Adds to a block that a codec does not know, as it was parsed, what one of its deltas says, whose fields are named as those of the block: texts and lists go on,
 * all else is replaced.
 */
export function growBlock(block: object, delta: object): void {
  for (const [name, more] of Object.entries(delta)) {
    if (name === 'type') continue
    const known: unknown = Object.hasOwn(block, name) ? Reflect.get(block, name) : undefined
    if (Array.isArray(known) && Array.isArray(more)) for (const each of more) known.push(each)
    else {
      const value = typeof known === 'string' && typeof more === 'string' ? known + more : more
      // Not set: the name may be that of the prototype.
      Object.defineProperty(block, name, { value, writable: true, enumerable: true, configurable: true })
    }
  }
}
