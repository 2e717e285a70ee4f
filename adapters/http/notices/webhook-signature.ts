import { checkOptions } from '../../../src/contract/shape/read.ts'
import { either, listOf, options as optionsOf, required } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { readText } from '../access/body.ts'
import { ProblemError } from '../access/problem.ts'
import { isSigned, signatureOf, signingKey } from '../access/signature.ts'
import { routeDefaults } from '../routes/route-options.ts'
import type { EndNotice, SessionNotice, WaitingNotice } from './session-notices.ts'

/** The signature header: `t=<seconds since the epoch>,v1=<hex of the HMAC-SHA256 of "<t>.<body>">`. */
export const signatureHeader = 'phi-signature'

/** Maximum age of a webhook in seconds. The sender's clock may be ahead by at most the same time. */
const toleranceSeconds = 300

const limits = { maxBytes: routeDefaults.maxBodyBytes, timeoutMs: routeDefaults.bodyTimeoutMs }

type AskedCall = Pick<WaitingNotice['approvals'][number], 'toolCallId' | 'toolName' | 'argumentsHash' | 'subAgent'>

/** A notification in the form sent: the session and the pending requests. Read arguments and questions from the session. */
export type WebhookNotice =
  | EndNotice
  | (Omit<WaitingNotice, 'approvals' | 'inputs' | 'clientCalls'> & {
      approvals: AskedCall[]
      clientCalls: AskedCall[]
      inputs: Pick<WaitingNotice['inputs'][number], 'inputId' | 'toolCallId' | 'toolName' | 'subAgent'>[]
    })

/** Returns the body for a notification. */
export function webhookBody(notice: SessionNotice): string {
  if (notice.type === 'end') return JSON.stringify(notice)
  const named = ({ toolCallId, toolName, argumentsHash, subAgent }: AskedCall): AskedCall => {
    return { toolCallId, toolName, argumentsHash, ...(subAgent !== undefined && { subAgent }) }
  }
  const [approvals, clientCalls] = [notice.approvals.map(named), notice.clientCalls.map(named)]
  const inputs = notice.inputs.map(({ inputId, toolCallId, toolName, subAgent }) => ({
    ...{ inputId, toolCallId, toolName },
    ...(subAgent !== undefined && { subAgent }),
  }))
  return JSON.stringify({ ...notice, approvals, inputs, clientCalls } satisfies WebhookNotice)
}

/** Returns the signature header for a body sent now. */
export async function signedNow(body: string, key: string): Promise<string> {
  const seconds = Math.floor(Date.now() / 1000)
  return `t=${seconds},v1=${await signatureOf(`${seconds}.${body}`, key)}`
}

/** Options for `readWebhook`. */
export interface ReadWebhookOptions {
  /** The sender's key. During a key rotation, the new and the old key. */
  key: string | readonly string[]
}

const readOptions = optionsOf<ReadWebhookOptions>({ key: required(either(signingKey, listOf(signingKey))) })

/** The notification, or the reason to reject the request. */
export type ReadWebhook = { notice: WebhookNotice; problem?: never } | { notice?: never; problem: string }

/**
 * Verifies and parses a request sent by `webhook`.
 *
 * **Contract**
 * - Verifies the signature in constant time before it parses the body.
 * - Rejects requests older than 5 minutes. To act only once, store each `id` for 5 minutes, because a retry has the same `id` and a new
 *   signature.
 * - Rejects only if the key is not set, with `ConfigError` `invalidOption`. `problem` never contains a key.
 *
 * Source: docs/guides/deploy.md
 */
export async function readWebhook(request: Request, options: ReadWebhookOptions): Promise<ReadWebhook> {
  checkOptions(options, readOptions)
  const { key } = options
  if (key.length === 0) throw new ConfigError('invalidOption', 'key is an empty list. Give it the key of the sender.')
  const [, time = '', hex = ''] = /^t=(\d{1,12}),v1=([\da-f]{64})$/.exec(request.headers.get(signatureHeader) ?? '') ?? []
  if (hex === '') return { problem: `The header ${signatureHeader} is missing, or has no signature.` }
  if (Math.abs(Date.now() / 1000 - Number(time)) > toleranceSeconds)
    return { problem: 'The request is too old, or the clocks differ by several minutes.' }
  try {
    const body = await readText(request, limits)
    const isOurs = await isSigned(`${Number(time)}.${body}`, hex, key)
    return isOurs ? { notice: JSON.parse(body) } : { problem: 'The signature does not match this body and key.' }
  } catch (error) {
    return { problem: error instanceof ProblemError ? error.message : 'The body is not JSON.' }
  }
}
