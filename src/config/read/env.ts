import type { AgentConfig } from '../config-types.ts'
export function substituteEnv<T extends AgentConfig>(config: T, env: Readonly<Record<string, string | undefined>>): T {
  throw new Error(`todo ${String(config)} ${String(env)}`)
}
