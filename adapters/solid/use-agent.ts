import { type Accessor, createSignal, onCleanup, onMount } from 'solid-js'
import { type ChatMessage, type ChatPart, type ChatSource, type ChatState, chatOf, messageOf } from '../../src/store.ts'
import type { DataTypes } from '../../src/types/run/data.ts'
import type { ToolTypesByName } from '../../src/types/tool/typed-tool.ts'

/**
 * Returns the state and the actions of a conversation as a signal. Works with a local `Agent` and with a `remoteSession`.
 *
 * **Contract**
 * - Call it in a component. It unsubscribes when the component is disposed.
 * - With `select`, the signal notifies only when the selected value changes.
 * - `select` must return a referentially stable part of the state, or a primitive.
 * - All components that use one agent share one chat.
 * - Server rendering uses the current snapshot and sends no request.
 *
 * Source: docs/guides/frameworks.md
 */
export function useAgent<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
): Accessor<ChatState<ChatPart<Tools>, Data>>
export function useAgent<Tools extends ToolTypesByName, Selected, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => Selected,
): Accessor<Selected>
export function useAgent<Tools extends ToolTypesByName, Data extends DataTypes>(
  source: ChatSource<Tools, Data>,
  select: (state: ChatState<ChatPart<Tools>, Data>) => unknown = (state) => state,
): Accessor<unknown> {
  const chat = chatOf(source)
  const [shown, show] = createSignal(select(chat.getSnapshot()))
  // The wrapper keeps Solid from calling a selected function as an updater.
  const look = () => void show(() => select(chat.getSnapshot()))
  onMount(() => {
    onCleanup(chat.subscribe(look))
    look()
  })
  return shown
}

/** Returns one message as an accessor, whose value is `undefined` if the message does not exist. */
export function useMessage<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
): Accessor<ChatMessage<ChatPart<Tools>> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id))
}

/** Returns one part of a message as an accessor, whose value is `undefined` if the part does not exist. A delta updates only its own part. */
export function usePart<Tools extends ToolTypesByName = ToolTypesByName>(
  source: ChatSource<Tools>,
  id: string,
  index: number,
): Accessor<ChatPart<Tools> | undefined> {
  return useAgent(source, (state: ChatState<ChatPart<Tools>>) => messageOf(state, id)?.parts[index])
}
