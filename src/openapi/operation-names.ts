import { crc32 } from '../base/hash.ts'
import { asToolName, isToolName, maxToolName } from '../contract/tool/tool-result.ts'

/**
 * Creates unique tool names that every provider accepts: `[a-zA-Z0-9_-]{1,64}`. If names collide, the one that needed no change keeps its
 * name, otherwise the first. The other names end in a checksum of their method and path. A name does not depend on the filter.
 */
export function legalNames(wanted: readonly { name: string; place: string }[]): string[] {
  const taken = new Set<string>()
  const names = wanted.map(({ name }) => {
    if (!isToolName(name) || taken.has(name)) return undefined
    taken.add(name)
    return name
  })
  return wanted.map(({ name, place }, at) => names[at] ?? free(legal(name), `${name} ${place}`, taken))
}

function legal(name: string): string {
  return asToolName(name) || '_'
}

function free(name: string, place: string, taken: Set<string>): string {
  let found = name
  for (let at = 0; found.length > maxToolName || taken.has(found); at += 1) {
    const mark = checksum(at === 0 ? place : `${place} ${at}`)
    found = `${name.slice(0, maxToolName - mark.length - 1)}_${mark}`
  }
  taken.add(found)
  return found
}

function checksum(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return crc32(bytes, 0, bytes.length).toString(16).padStart(8, '0')
}

/** Returns `get_pets_petId` for `GET /pets/{petId}`. */
export function nameOfPlace(method: string, path: string): string {
  return `${method.toLowerCase()}_${path.replace(/[^a-zA-Z0-9]+/g, '_').replace(/^_+|_+$/g, '')}`.replace(/_+$/, '')
}

/** Replaces the characters of `text` that argument and schema names cannot have. */
export function asKey(text: string): string {
  return text.replace(/[^a-zA-Z0-9_.-]/g, '_')
}

/** Returns a unique argument name that every provider accepts: `[a-zA-Z0-9_.-]{1,64}`. */
export function legalKey(name: string, taken: ReadonlySet<string>): string {
  const base = asKey(name).slice(0, maxToolName) || '_'
  let key = base
  // Use a checksum, because counting would take quadratic time.
  for (let at = 0; taken.has(key); at += 1) key = `${base.slice(0, maxToolName - 9)}_${checksum(at === 0 ? name : `${name} ${at}`)}`
  return key
}
