import { type JsonSchema, ownFieldIn } from '../../contract/json.ts'
import { percentDecoded } from '../text/percent.ts'

/** A name as a JSON Pointer (RFC 6901) has it between two slashes. */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The name that stands between two slashes of a JSON Pointer. */
export function nameOfPart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * What a local reference (`#`, `#/$defs/item`) leads to inside `root`, or `undefined`: also for references to other documents and anchors.
 * Looks at own properties only.
 */
export function resolveRef(root: JsonSchema, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  return pointerSegments(ref).reduce<unknown>(ownFieldIn, root)
}

/** The decoded segments of a JSON pointer in its fragment form, `#/a/b`. Malformed percent signs are taken literally. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => nameOfPart(percentDecoded(segment)))
}
