import { getCurrentInstance, onMounted, onScopeDispose, type ShallowRef, shallowRef } from 'vue'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { DataTypes } from '../../src/types/run/data.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * Returns the state and the actions of a conversation as a shallow ref. Works with a local `Agent` and with a `remoteSession`.
 *
 * **Contract**
 * - Call it in `setup` or in an effect scope. It unsubscribes when the scope is disposed.
 * - `select` must return a referentially stable part of the state, or a primitive.
 * - All components that use one agent share one chat.
 * - Server rendering uses the current snapshot and sends no request.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
): Readonly<ShallowRef<ChatState<ChatPart<Tools>, Data>>>
export function useAgent<Tools extends ToolTypesByName, Selected, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => Selected,
): Readonly<ShallowRef<Selected>>
export function useAgent<Tools extends ToolTypesByName, Data extends DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => unknown = (state) => state,
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
  // Server rendering never mounts, so it never subscribes.
  if (getCurrentInstance() === null) begin()
  else onMounted(begin)
  onScopeDispose(() => stop?.())
  return shown
}

/** Returns one message as a ref, whose value is `undefined` if the message does not exist. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): Readonly<ShallowRef<ChatMessage<ChatPart<Tools>> | undefined>> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** Returns one part of a message as a ref, whose value is `undefined` if the part does not exist. A delta updates only its own part. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): Readonly<ShallowRef<ChatPart<Tools> | undefined>> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
