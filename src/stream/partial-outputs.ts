import { PartialJson } from '../base/json/partial-json.ts'
import type { JsonValue } from '../contract/json.ts'
import type { AgentEvent } from '../contract/run/event.ts'

/** The answer of a run while it is written. A failed attempt, and an answer before a call, is forgotten when the next message begins. */
async function* answers(events: AsyncIterable<AgentEvent>): AsyncGenerator<{ json: PartialJson; isOver: boolean }> {
  let json = new PartialJson()
  let block = 0
  for await (const event of events) {
    if (event.type === 'messageStart' && event.message.role === 'assistant') json = new PartialJson()
    else if (event.type === 'messageEnd' && event.message.role === 'assistant') {
      json.end()
      yield { json, isOver: true }
    } else if (event.type === 'messageUpdate' && event.delta.type === 'text') {
      const { contentIndex, delta } = event.delta
      // Models may say something first: then the last text is the answer.
      if (contentIndex !== block && json.isBroken) json = new PartialJson()
      block = contentIndex
      json.push(delta)
      yield { json, isOver: false }
    }
  }
}

/**
 * What the answer says so far, each time it says more. `name` is that of the property in which a service holds an answer that is no object.
 */
export async function* partialOutputs(events: AsyncIterable<AgentEvent>, name: string | undefined): AsyncGenerator<JsonValue> {
  let last: JsonValue | undefined
  for await (const { json, isOver } of answers(events)) {
    const value = within(json.value, name)
    const isNews = value !== undefined && !Object.is(value, last) && !(isOver && typeof value === 'object')
    last = value
    if (isNews) yield value
  }
}

/** The elements of the list at `path`, each once it is whole. A new attempt begins with its first element again. */
export async function* outputElements(events: AsyncIterable<AgentEvent>, path: readonly string[]): AsyncGenerator<JsonValue> {
  let told = 0
  let of: PartialJson | undefined
  for await (const { json } of answers(events)) {
    if (json !== of) told = 0
    of = json
    const whole = json.completeElements(path)
    if (whole <= told) continue
    const list = path.reduce<JsonValue | undefined>(within, json.value)
    if (!Array.isArray(list)) continue
    for (; told < whole; told += 1) yield list[told] ?? null
  }
}

function within(value: JsonValue | undefined, name: string | undefined): JsonValue | undefined {
  if (name === undefined) return value
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
