/** The part a message of a turn plays. Source: docs/concepts/request-capture.md */
export type ProvenanceRole = 'userMessage' | 'assistantResponse' | 'toolCallRequest' | 'toolCallResult'

/** Where a block of a request came from. Source: docs/concepts/request-capture.md */
export type BlockProvenance =
  | { kind: 'systemPrompt' }
  | { kind: 'identityBlock'; name: string; order: number }
  | { kind: 'memoryTier'; tier: string; recordId: string }
  | { kind: 'loopTurn'; turnIndex: number; role: ProvenanceRole; messageIndex: number }
  | { kind: 'steering' }
  | { kind: 'followUp' }
  | { kind: 'unknown' }
