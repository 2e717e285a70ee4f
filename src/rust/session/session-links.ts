import * as z from 'zod'
import type { JsonObject } from '../../contract/json.ts'
import type { ChildLoopRef, ParallelGroupRecord, SessionFormation, SpawnRef } from '../../contract/session/session.ts'
import { count, present } from '../codec.ts'
import { usageCodec, usageSchema } from '../usage.ts'
import { unknownKeys } from './session-keys.ts'
import { exactTimes, timeSchema, writeTime } from './session-time.ts'

const formationNames = { type: 'type', at: 'timestamp', thresholdSecs: 'threshold_secs', previousSessionId: 'previous_session_id' } as const
const moment = z.looseObject({ timestamp: timeSchema })
const timeout = z.looseObject({ timestamp: timeSchema, threshold_secs: count, previous_session_id: z.string().nullish() })

function begun<T extends 'firstLoop' | 'explicit'>(type: T, { timestamp, ...rest }: z.infer<typeof moment>) {
  return { ...unknownKeys(rest, formationNames), ...exactTimes({ timestamp }), type, at: timestamp.at }
}

export const formationSchema: z.ZodType<SessionFormation> = z.union(
  [
    z.object({ FirstLoop: moment }).transform((spec) => begun('firstLoop', spec.FirstLoop)),
    z.object({ Explicit: moment }).transform((spec) => begun('explicit', spec.Explicit)),
    z
      .object({ InactivityTimeout: timeout })
      .transform(({ InactivityTimeout: { timestamp, threshold_secs, previous_session_id, ...rest } }) => ({
        ...unknownKeys(rest, formationNames),
        ...exactTimes({ timestamp }),
        type: 'inactivityTimeout' as const,
        at: timestamp.at,
        thresholdSecs: threshold_secs,
        ...present('previousSessionId', previous_session_id),
      })),
  ],
  '{FirstLoop}|{Explicit}|{InactivityTimeout}',
)

export function formationToSpec(formation: SessionFormation): JsonObject {
  const fields = { ...unknownKeys(formation, formationNames), timestamp: writeTime(formation, 'timestamp', formation.at) }
  switch (formation.type) {
    case 'firstLoop':
      return { FirstLoop: fields }
    case 'explicit':
      return { Explicit: fields }
    case 'inactivityTimeout': {
      const { thresholdSecs, previousSessionId = null } = formation
      return { InactivityTimeout: { ...fields, threshold_secs: thresholdSecs, previous_session_id: previousSessionId } }
    }
  }
}

const spawnNames = {
  parentSessionId: 'parent_session_id',
  parentLoopId: 'parent_loop_id',
  toolCallId: 'tool_call_id',
  toolName: 'tool_name',
} as const satisfies Record<keyof SpawnRef, string>

export const spawnRefSchema: z.ZodType<SpawnRef> = z
  .looseObject({ parent_session_id: z.string(), parent_loop_id: z.string(), tool_call_id: z.string(), tool_name: z.string() })
  .transform((spec) => ({
    ...unknownKeys(spec, spawnNames),
    parentSessionId: spec.parent_session_id,
    parentLoopId: spec.parent_loop_id,
    toolCallId: spec.tool_call_id,
    toolName: spec.tool_name,
  }))

export function spawnRefToSpec(ref: SpawnRef): JsonObject {
  const { parentSessionId, parentLoopId, toolCallId, toolName } = ref
  const ids = { parent_session_id: parentSessionId, parent_loop_id: parentLoopId, tool_call_id: toolCallId, tool_name: toolName }
  return { ...unknownKeys(ref, spawnNames), ...ids }
}

const childNames = {
  toolCallId: 'tool_call_id',
  toolName: 'tool_name',
  childLoopId: 'child_loop_id',
  childSessionId: 'child_session_id',
} as const satisfies Record<keyof ChildLoopRef, string>

export const childRefSchema: z.ZodType<ChildLoopRef> = z
  .looseObject({ tool_call_id: z.string(), tool_name: z.string(), child_loop_id: z.string(), child_session_id: z.string() })
  .transform((spec) => ({
    ...unknownKeys(spec, childNames),
    toolCallId: spec.tool_call_id,
    toolName: spec.tool_name,
    childLoopId: spec.child_loop_id,
    childSessionId: spec.child_session_id,
  }))

export function childRefToSpec(ref: ChildLoopRef): JsonObject {
  const { toolCallId, toolName, childLoopId, childSessionId } = ref
  const ids = { tool_call_id: toolCallId, tool_name: toolName, child_loop_id: childLoopId, child_session_id: childSessionId }
  return { ...unknownKeys(ref, childNames), ...ids }
}

const groupNames = {
  allLoopIds: 'all_loop_ids',
  selectedLoopId: 'selected_loop_id',
  selectedConfigIndex: 'selected_config_index',
  evaluationUsage: 'evaluation_usage',
  reason: 'reason',
  isSelected: 'is_selected',
} as const satisfies Record<keyof ParallelGroupRecord, string>

export const groupSchema: z.ZodType<ParallelGroupRecord> = z
  .looseObject({
    all_loop_ids: z.array(z.string()),
    selected_loop_id: z.string(),
    selected_config_index: count,
    evaluation_usage: usageSchema,
    reason: z.string().nullish(),
    is_selected: z.boolean(),
  })
  .transform((spec) => ({
    ...unknownKeys(spec, groupNames),
    allLoopIds: spec.all_loop_ids,
    selectedLoopId: spec.selected_loop_id,
    selectedConfigIndex: spec.selected_config_index,
    evaluationUsage: spec.evaluation_usage,
    ...present('reason', spec.reason),
    isSelected: spec.is_selected,
  }))

export function groupToSpec(group: ParallelGroupRecord): JsonObject {
  const { allLoopIds, selectedLoopId, selectedConfigIndex, evaluationUsage, reason, isSelected } = group
  return {
    ...unknownKeys(group, groupNames),
    all_loop_ids: allLoopIds,
    selected_loop_id: selectedLoopId,
    selected_config_index: selectedConfigIndex,
    evaluation_usage: usageCodec.encode(evaluationUsage),
    ...(reason !== undefined && { reason }),
    is_selected: isSelected,
  }
}
