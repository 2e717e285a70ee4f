import * as z from 'zod'
import type { ToolResult } from '../contract/tool/tool-result.ts'
import { anyJson, fitting, present, renamed, type SpecCodec, specCodec } from './codec.ts'
import { contentCodec, contentSchema } from './content.ts'

export const toolResultSchema: z.ZodType<ToolResult> = z
  .looseObject({ content: z.array(contentSchema), details: anyJson.optional(), child_loop_id: z.string().nullish() })
  .transform(({ details, child_loop_id, childLoopId: _, isError, ...rest }) => ({
    ...rest,
    ...present('details', details),
    ...present('childLoopId', child_loop_id),
    ...fitting('isError', z.boolean(), isError),
  }))

/** `ToolResult`: `details` is always written, `null` where there are none; `isError` is a key that Rust ignores. */
export const toolResultCodec: SpecCodec<ToolResult> = specCodec('result', toolResultSchema, (result) => ({
  ...renamed(result, { childLoopId: 'child_loop_id' }),
  content: result.content.map(contentCodec.encode),
  details: result.details ?? null,
}))
