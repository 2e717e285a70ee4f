// #region imports
import type { JsonValue } from 'phi-core'
import type { ChatAgent } from 'phi-core/client'
import { PartialJson } from 'phi-core/context'
import { createStore } from 'phi-core/store'
import { outputOf, type WithText } from 'phi-core/ui/ai-sdk'
// #endregion imports

// #region store
/** Shows the output of each run as it streams, for a local agent or a remote session. Returns a function that stops it. */
export function showOutput(agent: ChatAgent, show: (output: JsonValue) => void, schedule?: (flush: () => void) => void): () => void {
  const store = createStore(agent, { ...(schedule && { schedule }) })
  store.subscribe(() => {
    const output = store.getOutput()
    if (output !== undefined) show(output)
  })
  return store.close
}
// #endregion store

// #region use-chat
/** Reads the list of names from a `useChat` message, even while it streams. */
export function namesIn(message: WithText): JsonValue[] {
  const names = outputOf(message)
  return Array.isArray(names) ? names : []
}
// #endregion use-chat

// #region ag-ui
/** Creates a subscriber for an AG-UI client that shows the output as it streams. */
export function outputSubscriber(show: (output: unknown) => void) {
  let json = new PartialJson()
  let form: { property?: string } | undefined
  return {
    onCustomEvent: ({ event }: { event: { name: string; value?: { property?: string } } }) => {
      if (event.name === 'phi.output') form = event.value
    },
    onTextMessageStartEvent: () => {
      json = new PartialJson()
    },
    onTextMessageContentEvent: ({ event }: { event: { delta: string } }) => {
      json.push(event.delta)
      if (form !== undefined) show(form.property === undefined ? json.value : Object(json.value)[form.property])
    },
  }
}
// #endregion ag-ui
