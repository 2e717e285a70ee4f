import { PartialOutput } from '../base/json/partial-output.ts'
import type { JsonValue } from '../contract/json.ts'
import type { OutputForm } from '../contract/model/request-settings.ts'
import type { AgentEvent } from '../contract/run/event.ts'

/** What the answer says so far, each time it says more. */
export async function* partialOutputs(events: AsyncIterable<AgentEvent>, form: () => OutputForm | undefined): AsyncGenerator<JsonValue> {
  const output = new PartialOutput(form)
  let last: JsonValue | undefined
  for await (const event of events) {
    if (!output.take(event)) continue
    const { value } = output
    const isNews = value !== undefined && !Object.is(value, last)
    last = value
    if (isNews) yield value
  }
}

/** The elements of the list at `path`, each once it is whole. A new attempt begins with its first element again. */
export async function* outputElements(
  events: AsyncIterable<AgentEvent>,
  form: () => OutputForm | undefined,
  path: readonly string[],
): AsyncGenerator<JsonValue> {
  const output = new PartialOutput(form)
  let told = 0
  let attempt: object | undefined
  for await (const event of events) {
    if (!output.take(event)) continue
    if (output.attempt !== attempt) told = 0
    attempt = output.attempt
    const whole = output.elements(path, told)
    told += whole.length
    yield* whole
  }
}
