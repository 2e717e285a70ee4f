import { textOfArguments } from '../../kit/decode/parse-call.ts'
import { objectsIn } from '../../kit/decode/wire-value.ts'

/** An argument, or the next chunk of a text argument. */
export interface PartialArgument {
  jsonPath?: unknown
  stringValue?: unknown
  numberValue?: unknown
  boolValue?: unknown
  nullValue?: unknown
}

type Container = Record<string, unknown> | unknown[]

const steps = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g

/**
 * Assembles streamed arguments, each of which has a path (`$.recipe.steps[2]`). Chunks of a string share a path. Drops arguments with an
 * invalid path, and marks the call as incomplete.
 */
export class PartialArguments {
  // Create the root without a prototype, so that no path can modify a prototype.
  readonly #root: Record<string, unknown> = Object.create(null)
  /** Whether an argument was dropped. */
  isIncomplete = false

  /** Adds the `partialArgs` of one part. */
  add(partialArgs: readonly (PartialArgument | null)[] | null | undefined): void {
    for (const argument of objectsIn<PartialArgument>(partialArgs, 'arguments')) if (!this.#place(argument)) this.isIncomplete = true
  }

  /** Returns the arguments so far as JSON. */
  toJson(): string {
    return textOfArguments(this.#root)
  }

  #place({ jsonPath, stringValue, numberValue, boolValue, nullValue }: PartialArgument): boolean {
    const path = typeof jsonPath === 'string' ? stepsOf(jsonPath) : []
    const last = path.pop()
    const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
    if (value === undefined) return true
    if (last === undefined || (typeof value === 'object' && value !== null)) return false
    let at: Container | undefined = this.#root
    for (const [index, step] of path.entries()) at = at && childOf(at, step, path[index + 1] ?? last)
    if (at === undefined || !isPlace(at, last)) return false
    const before = read(at, last)
    write(at, last, typeof value === 'string' && typeof before === 'string' ? before + value : value)
    return true
  }
}

function stepsOf(path: string): (string | number)[] {
  return Array.from(path.matchAll(steps), ([, name, index, single, double]) =>
    index === undefined ? (name ?? single ?? double ?? '') : Number(index),
  )
}

/** Returns whether a step is valid. An index may extend a list only by one, so that a path cannot create a huge sparse list. */
function isPlace(container: Container, step: string | number): boolean {
  return Array.isArray(container) ? typeof step === 'number' && step <= container.length : typeof step === 'string'
}

/** Returns the value at `step`. Creates the container that the next step needs. */
function childOf(container: Container, step: string | number, next: string | number): Container | undefined {
  if (!isPlace(container, step)) return undefined
  const child = read(container, step)
  // Containers are created only here, so an object is always a container.
  if (typeof child === 'object' && child !== null) return child as Container
  if (child !== undefined) return undefined
  const made: Container = typeof next === 'number' ? [] : Object.create(null)
  write(container, step, made)
  return made
}

function read(container: Container, step: string | number): unknown {
  return Array.isArray(container) ? container[Number(step)] : container[step]
}

function write(container: Container, step: string | number, value: unknown): void {
  if (Array.isArray(container)) container[Number(step)] = value
  else container[step] = value
}
