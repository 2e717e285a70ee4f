import type { JsonObject } from '../../types/json.ts'
export function configJsonSchema(): JsonObject {
  throw new Error('todo')
}
