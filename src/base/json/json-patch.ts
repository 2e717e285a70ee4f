import { isJsonObject, type JsonValue } from '../../contract/json.ts'
import type { PatchStep, SavedState, StateChange } from '../../contract/session/shared-state.ts'
import { copyJson, nameOfPart } from './json-value.ts'

/** Thrown for an invalid operation. */
export class PatchFault extends Error {}

/** Property names to reject, because an assignment to them can modify an object's prototype. */
export const unsafeNames: readonly string[] = ['__proto__', 'constructor', 'prototype']

/** Wraps the patched value in an object, because an operation may replace the whole value. */
export type PatchRoot = {
  '': JsonValue
}

type Container = JsonValue[] | { [name: string]: JsonValue }

/**
 * Applies operations from `jsonDiff` to `value` without modifying it. The result shares unaffected parts with `value`. Throws `PatchFault`
 * for an invalid path.
 */
export function patched(value: JsonValue, steps: readonly PatchStep[]): JsonValue {
  const root = { '': value }
  const own = new Set<object>()
  for (const step of steps) {
    if (step.op === 'remove') take(root, step.path, own)
    else put(root, step.path, copyJson(step.value), step.op === 'add', own)
  }
  return root['']
}

/** Returns the value at a pointer (RFC 6901). */
export function read(root: PatchRoot, path: string): JsonValue {
  const { container, key } = place(root, path)
  return at(container, key, path)
}

/** Returns a pointer's parent and key. With `own`, replaces shared values on the path with copies. */
function place(root: PatchRoot, path: string, own?: Set<object>): { container: Container; key: string } {
  if (path !== '' && !path.startsWith('/')) throw new PatchFault(`${shown(path)} is not a JSON Pointer: it must be empty or begin with "/"`)
  if (/~(?![01])/.test(path)) throw new PatchFault(`${shown(path)} is not a JSON Pointer: write "~" as "~0"`)
  const names = path.split('/').map(nameOfPart)
  const unsafe = names.find((name) => unsafeNames.includes(name))
  if (unsafe !== undefined) throw new PatchFault(`${shown(path)} contains the forbidden key "${unsafe}"`)
  const key = names.pop() ?? ''
  let container: Container = root
  for (const name of names) {
    const next = at(container, name, path)
    if (typeof next !== 'object' || next === null) throw new PatchFault(`${shown(path)} leads into a value that is not an object or array`)
    container = own === undefined || own.has(next) ? next : copyAt(container, name, next)
    own?.add(container)
  }
  return { container, key }
}

/** Replaces a value with a shallow copy. */
function copyAt(container: Container, key: string, part: Container): Container {
  const copy = Array.isArray(part) ? [...part] : { ...part }
  if (Array.isArray(container)) container[Number(key)] = copy
  else container[key] = copy
  return copy
}

function at(container: Container, key: string, path: string): JsonValue {
  const found = Array.isArray(container)
    ? container[indexOf(key, container.length - 1, path)]
    : Object.hasOwn(container, key)
      ? container[key]
      : undefined
  if (found === undefined) throw new PatchFault(`there is nothing at ${shown(path)}`)
  return found
}

/** Inserts a value if `isNew`, otherwise replaces a value. With `own`, copies shared values first. */
export function put(root: PatchRoot, path: string, value: JsonValue, isNew: boolean, own?: Set<object>): void {
  const { container, key } = place(root, path, own)
  if (!isNew) at(container, key, path)
  if (!Array.isArray(container)) container[key] = value
  else if (!isNew) container[indexOf(key, container.length - 1, path)] = value
  else container.splice(key === '-' ? container.length : indexOf(key, container.length, path), 0, value)
}

/** Removes a value. With `own`, copies shared values first. */
export function take(root: PatchRoot, path: string, own?: Set<object>): void {
  if (path === '') throw new PatchFault('the root cannot be removed')
  const { container, key } = place(root, path, own)
  at(container, key, path)
  if (Array.isArray(container)) container.splice(indexOf(key, container.length - 1, path), 1)
  else delete container[key]
}

function indexOf(key: string, most: number, path: string): number {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(key)) throw new PatchFault(`${shown(path)} names "${key.slice(0, 40)}" of a list`)
  if (Number(key) > most) throw new PatchFault(`there is nothing at ${shown(path)}`)
  return Number(key)
}

/** Formats a pointer for a message. */
export function shown(path: string): string {
  return JSON.stringify(path.slice(0, 100))
}

/** Returns the shared state after one more change, or the same state if the change does not apply. */
export function changedState(before: SavedState | undefined, { version, patch, value }: StateChange): SavedState | undefined {
  if (value !== undefined) return { version, value }
  if (before === undefined || patch === undefined || version !== before.version + 1) return before
  try {
    const next = patched(before.value, patch)
    return isJsonObject(next) ? { version, value: next } : before
  } catch (error) {
    if (error instanceof PatchFault) return before
    throw error
  }
}
