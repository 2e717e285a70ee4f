import { bearer } from '../../adapters/http/index.ts'
import type { AskEndpoint } from '../../testing/index.ts'

/** Who asks, of the two users of `agentEndpointSuite`. */
export async function userOf(asking: Parameters<ReturnType<typeof bearer>>[0]): Promise<string | false> {
  for (const user of ['ada', 'bob']) if (await bearer(`${user}-secret`)(asking)) return user
  return false
}

/** What a user of the suite sends. */
export function signed(init: RequestInit, user: Parameters<AskEndpoint>[2]): RequestInit {
  const headers = new Headers(init.headers)
  if (user !== 'nobody') headers.set('authorization', `Bearer ${user}-secret`)
  return { ...init, headers }
}
