import type { TrustRequest } from '../config-host.ts'
import type { AgentConfig } from '../config-types.ts'
/** Everything that `config` needs trust for, in the order of the file's sections. Pure: a host that asks a person once shows this list. */
export function trustRequests(config: AgentConfig): TrustRequest[] {
  throw new Error(`todo ${String(config)}`)
}
