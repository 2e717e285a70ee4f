import type { JsonSchema } from '../types/json.ts'

/**
 * What a local reference (`#`, `#/$defs/item`) leads to inside `root`, or `undefined`: also for references to other documents and anchors.
 * Looks at own properties only.
 */
export function resolveRef(root: JsonSchema, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const segment of pointerSegments(ref)) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, segment)) return undefined
    node = Reflect.get(node, segment)
  }
  return node
}

/** The decoded segments of a JSON pointer in its fragment form, `#/a/b`. Malformed percent signs are taken literally. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => decodePercent(segment).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
