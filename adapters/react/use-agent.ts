import { useMemo, useSyncExternalStore } from 'react'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * A conversation in a component: what is shown, and what a person does. The component is rendered when anything changes; with `select` when what is selected
 * does. The same for an `Agent` in this page and a `remoteSession`; all components share one chat.
 *
 * **Contract**
 * - `select` gets the whole state and gives back a part of it that is kept by identity, or a plain value.
 * - On a server, and for its first look in the browser, it gives what the agent knew when it was first shown; nothing is asked of it there.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName>(source: ChatSource<Tools>): ChatState<ChatPart<Tools>>
export function useAgent<Tools extends ToolTypesByName, Selected>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => Selected,
): Selected
export function useAgent<Tools extends ToolTypesByName>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => unknown = all,
): unknown {
  const chat = chatOf(source)
  const [look, first] = useMemo(() => [once(chat.getSnapshot, select), once(chat.getServerSnapshot, select)], [chat, select])
  return useSyncExternalStore(chat.subscribe, look, first)
}

/** A message, for the component that shows it: rendered when that message changes. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): ChatMessage<ChatPart<Tools>> | undefined {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** A part of a message, for the component that shows it: a delta renders this one alone. */
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

/** React looks more than once at the same state and must see the same. */
function once<State, Selected>(read: () => State, select: (state: State) => Selected): () => Selected {
  let seen: { state: State; selected: Selected } | undefined
  return () => {
    const state = read()
    if (seen?.state !== state) seen = { state, selected: select(state) }
    return seen.selected
  }
}
