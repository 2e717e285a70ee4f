import { ownFieldIn, setOwnField } from '../../../contract/json.ts'

/**
 * Adds to a block that a codec does not know, as it was parsed, what one of its deltas says, whose fields are named as those of the block: texts and lists go on,
 * all else is replaced.
 */
export function growBlock(block: object, delta: object): void {
  for (const [name, more] of Object.entries(delta)) {
    if (name === 'type') continue
    const known = ownFieldIn(block, name)
    if (Array.isArray(known) && Array.isArray(more)) for (const each of more) known.push(each)
    else {
      setOwnField(block, name, typeof known === 'string' && typeof more === 'string' ? known + more : more)
    }
  }
}
