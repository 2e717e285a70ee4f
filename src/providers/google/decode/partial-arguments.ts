import { textOfArguments } from '../../kit/decode/parse-call.ts'
import { objectsIn } from '../../kit/decode/wire-value.ts'

/** One argument, or the next piece of a text. */
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
 * Arguments that arrive one by one, each with the path of its place (`$.recipe.steps[2]`); pieces of one text share a path.
 * What cannot be placed is left out, and says so.
 */
export class PartialArguments {
  // Without a prototype, so that a path cannot reach one.
  readonly #root: Record<string, unknown> = Object.create(null)
  /** Something could not be placed: these are not the arguments. */
  isIncomplete = false

  /** Adds the `partialArgs` of one part. */
  add(partialArgs: readonly (PartialArgument | null)[] | null | undefined): void {
    for (const argument of objectsIn<PartialArgument>(partialArgs, 'arguments')) if (!this.#place(argument)) this.isIncomplete = true
  }

  /** The arguments so far, as JSON. */
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

/** Lists grow by one: a path must not make a list of a million holes. */
function isPlace(container: Container, step: string | number): boolean {
  return Array.isArray(container) ? typeof step === 'number' && step <= container.length : typeof step === 'string'
}

/** What stands at `step`; made when there is nothing, as the step after it needs it. */
function childOf(container: Container, step: string | number, next: string | number): Container | undefined {
  if (!isPlace(container, step)) return undefined
  const child = read(container, step)
  // Containers are only made here, so an object is one.
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
