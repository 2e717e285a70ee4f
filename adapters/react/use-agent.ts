import { useMemo, useSyncExternalStore } from 'react'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { DataTypes } from '../../src/types/run/data.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * Returns the state and the actions of a conversation. Works with a local `Agent` and with a `remoteSession`.
 *
 * **Contract**
 * - The component renders when the state changes. With `select`, it renders only when the selected value changes.
 * - `select` must return a referentially stable part of the state, or a primitive.
 * - All components that use one agent share one chat.
 * - Server rendering and hydration use the first render's snapshot and send no request.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
): ChatState<ChatPart<Tools>, Data>
export function useAgent<Tools extends ToolTypesByName, Selected, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => Selected,
): Selected
export function useAgent<Tools extends ToolTypesByName, Data extends DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => unknown = all,
): unknown {
  const chat = chatOf(source)
  const [look, first] = useMemo(() => [once(chat.getSnapshot, select), once(chat.getServerSnapshot, select)], [chat, select])
  return useSyncExternalStore(chat.subscribe, look, first)
}

/** Returns one message, or `undefined` if it does not exist. The component renders when that message changes. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): ChatMessage<ChatPart<Tools>> | undefined {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** Returns one part of a message, or `undefined` if it does not exist. A delta renders only the component that shows its part. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): ChatPart<Tools> | undefined {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}

function all<State>(state: State): State {
  return state
}

/** Memoizes `select` per state, because React reads a snapshot several times and compares the results. */
function once<State, Selected>(read: () => State, select: (state: State) => Selected): () => Selected {
  let seen: { state: State; selected: Selected } | undefined
  return () => {
    const state = read()
    if (seen?.state !== state) seen = { state, selected: select(state) }
    return seen.selected
  }
}
