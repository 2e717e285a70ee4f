import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { DataTypes } from '../../src/types/run/data.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/** A readable store for Svelte 3, 4 and 5. Read it as `$chat` in a component. This module does not import Svelte. */
export interface AgentStore<Value> {
  subscribe(run: (value: Value) => void): () => void
}

/**
 * Returns the state and the actions of a conversation as a store. Works with a local `Agent` and with a `remoteSession`.
 *
 * **Contract**
 * - With `select`, the store notifies only when the selected value changes.
 * - `select` must return a referentially stable part of the state, or a primitive.
 * - All components that use one agent share one chat.
 * - Server rendering uses the current snapshot and sends no request.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
): AgentStore<ChatState<ChatPart<Tools>, Data>>
export function useAgent<Tools extends ToolTypesByName, Selected, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => Selected,
): AgentStore<Selected>
export function useAgent<Tools extends ToolTypesByName, Data extends DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => unknown = (state) => state,
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

/** Returns one message as a store, whose value is `undefined` if the message does not exist. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): AgentStore<ChatMessage<ChatPart<Tools>> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** Returns one part of a message as a store, whose value is `undefined` if the part does not exist. A delta updates only its own part. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): AgentStore<ChatPart<Tools> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
