import type { JsonSchema } from '../../contract/json.ts'

/** One row of the validator suite: values a schema accepts, and values it refuses with the path of the first issue. */
export interface SchemaCase {
  name: string
  schema: JsonSchema
  /** JSON texts, so that keys such as `__proto__` are own properties. */
  accepts: readonly string[]
  /** JSON text and the path of an issue it must produce, joined with `/`. */
  refuses: readonly (readonly [json: string, path: string])[]
}
