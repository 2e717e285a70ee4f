import { Validator } from '@cfworker/json-schema'
import type { JsonSchema } from '../types/json.ts'
import type { SchemaResult, SchemaValidator } from '../types/standard-schema.ts'
import { readIssues } from './read-issues.ts'
import { enforceableSchema } from './supported-keywords.ts'

/**
 * The default `SchemaValidator`: interprets schemas, so it also runs where code generation is forbidden.
 *
 * **Contract**
 * - `compile` throws what `enforceableSchema` throws; the schema passed in is neither changed nor kept.
 * - A value too large or too deeply nested to check, or one that is not JSON, is refused with an issue.
 * - Issues say where and what: `path` leads to the value, a missing or forbidden property included.
 *
 * Source: ARCHITECTURE §3 "Ports", reference/style.md §3.6.
 */
export function jsonSchemaValidator(): SchemaValidator {
  return {
    compile(schema: JsonSchema) {
      const root = enforceableSchema(schema)
      const interpreter = new Validator(root, '2020-12', false)
      return (value) => check(interpreter, root, value)
    },
  }
}

function check(interpreter: Validator, root: JsonSchema, value: unknown): SchemaResult<unknown> {
  try {
    const result = interpreter.validate(value)
    return result.valid ? { value } : { issues: readIssues(result.errors, root, value) }
  } catch (error) {
    // The interpreter recurses: endless references and very deep or long values end as RangeError, values that are not JSON as Error.
    if (error instanceof RangeError) return { issues: [{ message: 'too large or too deeply nested to check' }] }
    return { issues: [{ message: `cannot be checked: ${error instanceof Error ? error.message : String(error)}` }] }
  }
}
