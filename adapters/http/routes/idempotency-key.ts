import type { Context } from 'hono'
import type { MessageInput, UserMessage } from '../../../src/index.ts'
import { refuse } from '../access/problem.ts'

/**
 * The key under which a client asks for something that must happen once, however often the request arrives. Refuses with 400 `invalidBody` what is no
 * key: 8 to 100 letters, digits, `-` and `_`.
 */
export function keyOf(c: Context): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key !== undefined && !/^[\w-]{8,100}$/.test(key))
    refuse(400, 'invalidBody', 'Idempotency-Key must be 8 to 100 letters, digits, - and _. A UUID is one.')
  return key
}

/** The key is the id of the last message: so the client knows it beforehand, and after a restart the log says what was accepted. */
export function withKey(messages: readonly UserMessage[], key: string | undefined): MessageInput[] {
  return messages.map((message, at) => (key !== undefined && at === messages.length - 1 ? { ...message, id: key } : message))
}
