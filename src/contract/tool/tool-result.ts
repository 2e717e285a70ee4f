import type { JsonValue } from '../json.ts'
import type { Content } from '../message/content.ts'

/** What a tool gives back. `content` goes to the model, `details` to the application only. Source: docs/concepts/tools.md */
export interface ToolResult {
  content: Content[]
  details?: JsonValue
  /** True when the call failed in a way the model should see; a thrown error has the same effect. */
  isError?: boolean
  /** Loop that a sub-agent ran. */
  childLoopId?: string
}
