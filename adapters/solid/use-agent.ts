import { type Accessor, createSignal, onCleanup, onMount } from 'solid-js'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * A conversation as a signal: what is shown, and what a person does; with `select` a part of that, told when it changes. The same for an `Agent` in this page
 * and a `remoteSession`; all components share one chat.
 *
 * **Contract**
 * - Call it in a component; it ends with that.
 * - `select` gives back a part of the state that is kept by identity, or a plain value.
 * - On a server it gives what the agent knows; nothing is asked of it there.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName>(source: ChatSource<Tools>): Accessor<ChatState<ChatPart<Tools>>>
export function useAgent<Tools extends ToolTypesByName, Selected>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => Selected,
): Accessor<Selected>
export function useAgent<Tools extends ToolTypesByName>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => unknown = (state) => state,
): Accessor<unknown> {
  const chat = chatOf(source)
  const [shown, show] = createSignal(select(chat.getSnapshot()))
  // A function within a function: Solid would call one that was selected.
  const look = () => void show(() => select(chat.getSnapshot()))
  onMount(() => {
    onCleanup(chat.subscribe(look))
    look()
  })
  return shown
}

/** A message, for the component that shows it. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): Accessor<ChatMessage<ChatPart<Tools>> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** A part of a message, for the component that shows it: a delta updates this one alone. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): Accessor<ChatPart<Tools> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
