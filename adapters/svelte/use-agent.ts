import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/** A store as Svelte reads it: `$chat` in a component. It needs nothing of Svelte, and works with 3, 4 and 5. */
export interface AgentStore<Value> {
  subscribe(run: (value: Value) => void): () => void
}

/**
 * A conversation as a store: what is shown, and what a person does; with `select` a part of that, told when it changes. The same for an `Agent` in this page
 * and a `remoteSession`; all components share one chat.
 *
 * **Contract**
 * - `select` gives back a part of the state that is kept by identity, or a plain value.
 * - On a server it gives what the agent knows; nothing is asked of it there.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName>(source: ChatSource<Tools>): AgentStore<ChatState<ChatPart<Tools>>>
export function useAgent<Tools extends ToolTypesByName, Selected>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => Selected,
): AgentStore<Selected>
export function useAgent<Tools extends ToolTypesByName>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => unknown = (state) => state,
): AgentStore<unknown> {
  const chat = chatOf(source)
  return {
    subscribe(run) {
      let shown = select(chat.getSnapshot())
      run(shown)
      return chat.subscribe(() => {
        const next = select(chat.getSnapshot())
        if (next === shown) return
        shown = next
        run(next)
      })
    },
  }
}

/** A message, for the component that shows it. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): AgentStore<ChatMessage<ChatPart<Tools>> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** A part of a message, for the component that shows it: a delta updates this one alone. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): AgentStore<ChatPart<Tools> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
