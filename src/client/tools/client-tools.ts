import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts'
import type { PendingClientCall } from '../../contract/run/run-facts.ts'
import type { ApprovalRef, ClientCallAnswer } from '../../types/run/question.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import type { Wire } from '../wire/wire.ts'

/** Context of a client tool call. */
export interface ClientCallContext {
  readonly toolCallId: string
  readonly toolName: string
  /** Aborts when the run is stopped or the call times out. */
  readonly signal: AbortSignal
}

/**
 * Runs a call. The model gets the return value or the error message. If an untyped function returns nothing, the result is `(no output)`.
 */
export type ClientToolFunction<Input = JsonObject, Output = JsonValue> = (
  args: Input,
  ctx: ClientCallContext,
) => Returned<Output> | Promise<Returned<Output>>

// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement has this type
type Returned<Output> = JsonValue extends Output ? Output | undefined | void : Output

/** A tool that a client declares, for a server that allows its name. */
export interface OfferedClientTool<Input = JsonObject, Output = JsonValue> {
  /** Tells the model what the tool does and when to use it. */
  description: string
  /** JSON Schema for the arguments, with an object at its root. */
  parameters: JsonSchema
  run: ClientToolFunction<Input, Output>
}

/** Tools without known types. */
export type AnyTools = Record<string, { input: JsonObject; output: JsonValue }>

/**
 * Client tools by name: a function for a tool that the server declares, or description, parameters and `execute` for a tool that the client
 * declares.
 */
export type ClientTools<Tools extends ToolTypesByName = AnyTools> = {
  readonly [Name in keyof Tools]?:
    | ClientToolFunction<Tools[Name]['input'], Tools[Name]['output']>
    | OfferedClientTool<Tools[Name]['input'], Tools[Name]['output']>
}

/** Identifies a call, even after the server restarts. */
export function keyOf({
  toolCallId,
  argumentsHash,
  subAgent,
}: Pick<PendingClientCall, 'toolCallId' | 'argumentsHash' | 'subAgent'>): string {
  return JSON.stringify([toolCallId, argumentsHash, subAgent?.loopId ?? ''])
}

/** Claims a client call at the server. Resolves with `false` if another client has claimed it. Rejects with `RemoteError`. */
export async function claimCall(wire: Wire, { toolCallId, argumentsHash }: ApprovalRef, clientId: string): Promise<boolean> {
  const answer = await wire.json({ method: 'POST', path: `${pathOf(toolCallId)}/claim`, body: { argumentsHash, clientId } })
  const { claimed }: { claimed?: unknown } = Object(answer)
  return claimed === true
}

/**
 * Sends a call's result, and retries until the server has recorded it. Resolves with the loop that continues. Rejects with `RemoteError`.
 */
export async function answerCall(
  wire: Wire,
  { toolCallId, argumentsHash }: ApprovalRef,
  answer: ClientCallAnswer,
  clientId?: string,
): Promise<string | undefined> {
  const body: JsonObject = { ...answer, argumentsHash, ...(clientId !== undefined && { clientId }) }
  return wire.decide(pathOf(toolCallId), body)
}

function pathOf(toolCallId: string): string {
  return `/client-calls/${encodeURIComponent(toolCallId)}`
}
