// #region imports
import type { JsonValue } from 'phi-core'
import type { ChatAgent } from 'phi-core/client'
import { PartialJson } from 'phi-core/context'
import { createStore } from 'phi-core/store'
import { outputOf, type WithText } from 'phi-core/ui/ai-sdk'
// #endregion imports

// #region store
/** Shows the answer of each run while it is written, of an agent in this page as of one on a server. Returns how to stop. */
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
/** What a component shows of a message of `useChat`: the names of a list that is written. */
export function namesIn(message: WithText): JsonValue[] {
  const names = outputOf(message)
  return Array.isArray(names) ? names : []
}
// #endregion use-chat

// #region ag-ui
/** The subscriber of an AG-UI client that shows the answer while it is written. */
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
