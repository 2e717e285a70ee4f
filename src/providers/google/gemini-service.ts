import type { ApiProtocol, ModelConfig } from '../../types/model-config.ts'

/** A service that speaks `streamGenerateContent`. */
export interface GeminiService {
  api: ApiProtocol
  /** For people. */
  name: string
  /** What follows a `baseUrl` that does not end with `/models`. */
  path: string
  /** Where the key of a call goes: `x-goog-api-key`, `authorization`, or the query of the URL. */
  keyPlace: (model: ModelConfig) => 'header' | 'bearer' | 'query'
  /** What a browser user can do besides a proxy. */
  browserHint?: string
}
