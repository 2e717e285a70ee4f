import { getCurrentInstance, onMounted, onScopeDispose, type ShallowRef, shallowRef } from 'vue'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * A conversation in a component, as a shallow ref: what is shown, and what a person does; with `select` a part of that. The same for an `Agent` in this page
 * and a `remoteSession`; all components share one chat.
 *
 * **Contract**
 * - Call it in `setup`, or in an effect scope; it ends with that.
 * - `select` gives back a part of the state that is kept by identity, or a plain value.
 * - On a server it gives what the agent knows; nothing is asked of it there.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
): Readonly<ShallowRef<ChatState<ChatPart<Tools>>>>
export function useAgent<Tools extends ToolTypesByName, Selected>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => Selected,
): Readonly<ShallowRef<Selected>>
export function useAgent<Tools extends ToolTypesByName>(
  source: ChatSource<Tools>,
  select: (state: ChatState<ChatPart<Tools>>) => unknown = (state) => state,
): Readonly<ShallowRef<unknown>> {
  const chat = chatOf(source)
  const shown = shallowRef(select(chat.getSnapshot()))
  const look = () => {
    shown.value = select(chat.getSnapshot())
  }
  let stop: (() => void) | undefined
  const begin = () => {
    stop = chat.subscribe(look)
    look()
  }
  // Pages made on a server mount nothing.
  if (getCurrentInstance() === null) begin()
  else onMounted(begin)
  onScopeDispose(() => stop?.())
  return shown
}

/** A message, for the component that shows it. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): Readonly<ShallowRef<ChatMessage<ChatPart<Tools>> | undefined>> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** A part of a message, for the component that shows it: a delta updates this one alone. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): Readonly<ShallowRef<ChatPart<Tools> | undefined>> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
