// Made by scripts/catalogue.ts of @earendil-works/pi-ai 1.5.2 (MIT). Do not edit.

/** The date of the source. */
export const catalogueDate = '2026-11-10'

/** Per service, a line for models that are alike: ids, context window, longest answer, USD per million tokens (in, out, read and written cache), `r`: thinks, `i`: sees, `-`: neither; then, for prompts of more tokens than the next figure, the same four rates. */
export const catalogueData: Readonly<Record<string, string>> = {
  anthropic: `
claude-fable-5 1000000 128000 10 50 1 12.5 ri
claude-fable-5-1 1000000 128000 10 50 0.25 12.5 ri
claude-fable-5-2 1000000 128000 8 40 0.2 10 ri
claude-haiku-4-5,claude-haiku-4-5-20251001 200000 64000 1 5 0.1 1.25 ri
claude-haiku-5-5 1000000 128000 0.1 0.5 0.01 0.125 ri 100000 0.5 2.5 0.05 0.625
claude-opus-4-5,claude-opus-4-5-20251101 200000 64000 5 25 0.5 6.25 ri
claude-opus-4-6,claude-opus-4-7,claude-opus-4-8,claude-opus-5 1000000 128000 5 25 0.5 6.25 ri
claude-opus-5-5 1000000 128000 4 20 0.2 5 ri
claude-sonnet-4-5,claude-sonnet-4-5-20250929 200000 64000 3 15 0.3 3.75 ri
claude-sonnet-4-6 1000000 128000 3 15 0.3 3.75 ri
claude-sonnet-5 1000000 128000 2 10 0.2 2.5 ri
claude-sonnet-5-5 1000000 128000 2 10 0.1 2.5 ri
`,
  openai: `
chat-latest 400000 128000 5 30 0.5 0 ri
gpt-4 8192 8192 30 60 0 0 -
gpt-4-turbo 128000 4096 10 30 0 0 i
gpt-4.1 1047576 32768 2 8 0.5 0 i
gpt-4.1-mini 1047576 32768 0.4 1.6 0.1 0 i
gpt-4.1-nano 1047576 32768 0.1 0.4 0.025 0 i
gpt-4o,gpt-4o-2024-08-06,gpt-4o-2024-11-20 128000 16384 2.5 10 1.25 0 i
gpt-4o-2024-05-13 128000 4096 5 15 0 0 i
gpt-4o-mini 128000 16384 0.15 0.6 0.075 0 i
gpt-5,gpt-5.1 400000 128000 1.25 10 0.125 0 ri
gpt-5-chat-latest 128000 16384 1.25 10 0.125 0 i
gpt-5-mini 400000 128000 0.25 2 0.025 0 ri
gpt-5-nano 400000 128000 0.05 0.4 0.005 0 ri
gpt-5-pro 400000 128000 15 120 0 0 ri
gpt-5.2,gpt-5.3-codex 400000 128000 1.75 14 0.175 0 ri
gpt-5.2-pro 400000 128000 21 168 0 0 ri
gpt-5.3-codex-spark 128000 32000 1.75 14 0.175 0 ri
gpt-5.4 272000 128000 2.5 15 0.25 0 ri 272000 5 22.5 0.5 0
gpt-5.4-mini 400000 128000 0.75 4.5 0.075 0 ri
gpt-5.4-nano 400000 128000 0.2 1.25 0.02 0 ri
gpt-5.4-pro,gpt-5.5-pro 1050000 128000 30 180 0 0 ri 272000 60 270 0 0
gpt-5.5 272000 128000 5 30 0.5 0 ri 272000 10 45 1 0
gpt-5.6-cyber,gpt-daybreak-red-latest 400000 128000 12.5 75 1.25 15.625 ri
gpt-5.6-luna 272000 128000 0.2 1.2 0.02 0.25 ri 272000 0.4 1.8 0.04 0.5
gpt-5.6-sol 272000 128000 4 20 0.4 5 ri 272000 8 30 0.8 10
gpt-5.6-terra 272000 128000 2 12 0.2 2.5 ri 272000 4 18 0.4 5
gpt-6-astra 272000 128000 10 50 1 12.5 ri 272000 20 75 2 25
gpt-6-luna 272000 128000 0.1 0.5 0.01 0.125 ri 272000 0.2 0.75 0.02 0.25
gpt-6-sol 272000 128000 2 10 0.2 2.5 ri 272000 4 15 0.4 5
gpt-6.1-sol 272000 128000 2 10 0.1 2.5 ri 272000 4 15 0.2 5
gpt-6.1-terra 272000 128000 1 5 0.05 1.25 ri 272000 2 7.5 0.1 2.5
gpt-daybreak-blue-latest 1050000 128000 4 20 0.4 5 ri 272000 8 30 0.8 10
o1 200000 100000 15 60 7.5 0 ri
o1-pro 200000 100000 150 600 0 0 ri
o3 200000 100000 2 8 0.5 0 ri
o3-mini 200000 100000 1.1 4.4 0.55 0 r
o3-pro 200000 100000 20 80 0 0 ri
o4-mini 200000 100000 1.1 4.4 0.275 0 ri
`,
  azure_openai: `
chat-latest 400000 128000 5 30 0.5 0 ri
deepseek-v4-pro 1000000 384000 1.925 3.828 0.165 0 r
gpt-4 8192 8192 30 60 0 0 -
gpt-4-turbo 128000 4096 10 30 0 0 i
gpt-4.1 1047576 32768 2 8 0.5 0 i
gpt-4.1-mini 1047576 32768 0.4 1.6 0.1 0 i
gpt-4.1-nano 1047576 32768 0.1 0.4 0.025 0 i
gpt-4o,gpt-4o-2024-08-06,gpt-4o-2024-11-20 128000 16384 2.5 10 1.25 0 i
gpt-4o-2024-05-13 128000 4096 5 15 0 0 i
gpt-4o-mini 128000 16384 0.15 0.6 0.075 0 i
gpt-5,gpt-5.1 400000 128000 1.25 10 0.125 0 ri
gpt-5-chat-latest 128000 16384 1.25 10 0.125 0 i
gpt-5-mini 400000 128000 0.25 2 0.025 0 ri
gpt-5-nano 400000 128000 0.05 0.4 0.005 0 ri
gpt-5-pro 400000 128000 15 120 0 0 ri
gpt-5.2,gpt-5.3-codex 400000 128000 1.75 14 0.175 0 ri
gpt-5.2-pro 400000 128000 21 168 0 0 ri
gpt-5.3-codex-spark 128000 32000 1.75 14 0.175 0 ri
gpt-5.4 1050000 128000 2.5 15 0.25 0 ri 272000 5 22.5 0.5 0
gpt-5.4-mini 400000 128000 0.75 4.5 0.075 0 ri
gpt-5.4-nano 400000 128000 0.2 1.25 0.02 0 ri
gpt-5.4-pro,gpt-5.5-pro 1050000 128000 30 180 0 0 ri 272000 60 270 0 0
gpt-5.5 1050000 128000 5 30 0.5 0 ri 272000 10 45 1 0
gpt-5.6-cyber,gpt-daybreak-red-latest 400000 128000 12.5 75 1.25 15.625 ri
gpt-5.6-luna 1050000 128000 0.2 1.2 0.02 0.25 ri 272000 0.4 1.8 0.04 0.5
gpt-5.6-sol,gpt-daybreak-blue-latest 1050000 128000 4 20 0.4 5 ri 272000 8 30 0.8 10
gpt-5.6-terra 1050000 128000 2 12 0.2 2.5 ri 272000 4 18 0.4 5
gpt-6-astra 1050000 128000 10 50 1 12.5 ri 272000 20 75 2 25
gpt-6-luna 1050000 128000 0.1 0.5 0.01 0.125 ri 272000 0.2 0.75 0.02 0.25
gpt-6-sol 1050000 128000 2 10 0.2 2.5 ri 272000 4 15 0.4 5
gpt-6.1-sol 1050000 128000 2 10 0.1 2.5 ri 272000 4 15 0.2 5
gpt-6.1-terra 1050000 128000 1 5 0.05 1.25 ri 272000 2 7.5 0.1 2.5
o1 200000 100000 15 60 7.5 0 ri
o1-pro 200000 100000 150 600 0 0 ri
o3 200000 100000 2 8 0.5 0 ri
o3-mini 200000 100000 1.1 4.4 0.55 0 r
o3-pro 200000 100000 20 80 0 0 ri
o4-mini 200000 100000 1.1 4.4 0.275 0 ri
`,
  google: `
deep-research-max-preview-04-2026,deep-research-preview-04-2026,gemini-3.1-pro-preview,gemini-3.1-pro-preview-customtools,gemini-pro-latest 1048576 65536 2 12 0.2 0 ri 200000 4 18 0.4 0
gemini-2.5-computer-use-preview-10-2025 128000 64000 1.25 10 0 0 ri 200000 2.5 15 0 0
gemini-2.5-flash,gemini-3.5-flash-lite 1048576 65536 0.3 2.5 0.03 0 ri
gemini-2.5-flash-lite 1048576 65536 0.1 0.4 0.01 0 ri
gemini-2.5-pro 1048576 65536 1.25 10 0.125 0 ri 200000 2.5 15 0.25 0
gemini-3-flash-preview 1048576 65536 0.5 3 0.05 0 ri
gemini-3.1-flash-lite,gemini-3.1-flash-lite-preview,gemini-flash-lite-latest 1048576 65536 0.25 1.5 0.025 0 ri
gemini-3.5-flash,gemini-flash-latest 1048576 65536 1.5 9 0.15 0 ri
gemini-3.6-flash,gemini-3.7-flash,gemini-3.8-flash 1048576 65536 0.75 3.75 0.075 0 ri
gemini-4-argon 1048576 32768 2 10 0.1 0 ri
gemini-robotics-er-2-preview 131072 65536 1 5 0.1 0 ri
gemma-4-26b-a4b-it,gemma-4-31b-it 262144 32768 0 0 0 0 ri
`,
  vertex: `
gemini-2.5-flash,gemini-3.5-flash-lite 1048576 65536 0.3 2.5 0.03 0 ri
gemini-2.5-flash-lite 1048576 65536 0.1 0.4 0.01 0 ri
gemini-2.5-pro 1048576 65536 1.25 10 0.125 0 ri
gemini-3-flash-preview 1048576 65536 0.5 3 0.05 0 ri
gemini-3.1-flash-lite 1048576 65536 0.25 1.5 0.025 0 ri
gemini-3.1-pro-preview,gemini-3.1-pro-preview-customtools 1048576 65536 2 12 0.2 0 ri
gemini-3.5-flash 1048576 65536 1.5 9 0.15 0 ri
gemini-3.6-flash,gemini-3.7-flash,gemini-3.8-flash 1048576 65536 0.75 3.75 0.075 0 ri
gemini-4-argon 1048576 65536 2 10 0.1 0 ri
`,
  bedrock: `
amazon.nova-2-lite-v1:0 1000000 65535 0.33 2.75 0.0825 0.33 ri
amazon.nova-lite-v1:0 300000 10000 0.06 0.24 0.015 0.06 i
amazon.nova-micro-v1:0 128000 10000 0.035 0.14 0.00875 0.035 -
amazon.nova-pro-v1:0 300000 10000 0.8 3.2 0.2 0.8 i
anthropic.claude-fable-5 1000000 128000 10 50 1 12.5 ri
anthropic.claude-fable-5-1 1000000 128000 10 50 0.25 12.5 ri
anthropic.claude-fable-5-2 1000000 128000 8 40 0.2 10 ri
anthropic.claude-haiku-4-5-20251001-v1:0 200000 64000 1 5 0.1 1.25 ri
anthropic.claude-haiku-5-5 1000000 128000 0.1 0.5 0.01 0.125 ri 100000 0.5 2.5 0.05 0.625
anthropic.claude-opus-4-1-20250805-v1:0 200000 32000 15 75 1.5 18.75 ri
anthropic.claude-opus-4-5-20251101-v1:0 200000 64000 5 25 0.5 6.25 ri
anthropic.claude-opus-4-6-v1,au.anthropic.claude-opus-4-7,au.anthropic.claude-opus-4-8,au.anthropic.claude-opus-5,eu.anthropic.claude-opus-4-7,eu.anthropic.claude-opus-4-8,eu.anthropic.claude-opus-5,in.anthropic.claude-opus-5,jp.anthropic.claude-opus-4-7,jp.anthropic.claude-opus-4-8,jp.anthropic.claude-opus-5,us.anthropic.claude-opus-4-7,us.anthropic.claude-opus-4-8,us.anthropic.claude-opus-5 1000000 128000 5.5 27.5 0.55 6.875 ri
anthropic.claude-opus-4-7,anthropic.claude-opus-4-8,global.anthropic.claude-opus-4-6-v1,global.anthropic.claude-opus-5 1000000 128000 5 25 0.5 6.25 ri
anthropic.claude-opus-5-5 1000000 128000 4 20 0.2 5 ri
anthropic.claude-sonnet-4-5-20250929-v1:0,apac.anthropic.claude-sonnet-4-20250514-v1:0,eu.anthropic.claude-sonnet-4-20250514-v1:0,global.anthropic.claude-sonnet-4-20250514-v1:0,us.anthropic.claude-sonnet-4-20250514-v1:0 200000 64000 3 15 0.3 3.75 ri
anthropic.claude-sonnet-4-6 1000000 128000 3.3 16.5 0.33 4.125 ri
anthropic.claude-sonnet-5 1000000 128000 2 10 0.2 2.5 ri
anthropic.claude-sonnet-5-5 1000000 128000 2 10 0.1 2.5 ri
apac.amazon.nova-lite-v1:0 300000 10000 0.063 0.252 0.01575 0.063 i
apac.amazon.nova-micro-v1:0 128000 10000 0.037 0.148 0.00925 0.037 -
apac.amazon.nova-pro-v1:0 300000 10000 0.84 3.36 0.21 0.84 i
au.anthropic.claude-haiku-4-5-20251001-v1:0,eu.anthropic.claude-haiku-4-5-20251001-v1:0,in.anthropic.claude-haiku-4-5-20251001-v1:0,jp.anthropic.claude-haiku-4-5-20251001-v1:0,us.anthropic.claude-haiku-4-5-20251001-v1:0 200000 64000 1.1 5.5 0.11 1.375 ri
au.anthropic.claude-haiku-5-5,eu.anthropic.claude-haiku-5-5,jp.anthropic.claude-haiku-5-5,us.anthropic.claude-haiku-5-5 1000000 128000 0.11 0.55 0.011 0.1375 ri 100000 0.55 2.75 0.055 0.6875
au.anthropic.claude-opus-5-5,eu.anthropic.claude-opus-5-5,jp.anthropic.claude-opus-5-5,us.anthropic.claude-opus-5-5 1000000 128000 4.4 22 0.22 5.5 ri
au.anthropic.claude-sonnet-4-5-20250929-v1:0,eu.anthropic.claude-sonnet-4-5-20250929-v1:0,jp.anthropic.claude-sonnet-4-5-20250929-v1:0,us.anthropic.claude-sonnet-4-5-20250929-v1:0 200000 64000 3.3 16.5 0.33 4.125 ri
au.anthropic.claude-sonnet-5,eu.anthropic.claude-sonnet-5,in.anthropic.claude-sonnet-5,jp.anthropic.claude-sonnet-5,us.anthropic.claude-sonnet-5 1000000 128000 2.2 11 0.22 2.75 ri
au.anthropic.claude-sonnet-5-5,eu.anthropic.claude-sonnet-5-5,us.anthropic.claude-sonnet-5-5 1000000 128000 2.2 11 0.11 2.75 ri
ca.amazon.nova-lite-v1:0 300000 10000 0.064 0.256 0.016 0.064 i
deepseek.v3-v1:0 163840 81920 0.58 1.68 0 0 r
deepseek.v3.2 163840 81920 0.62 1.85 0 0 r
eu.amazon.nova-2-lite-v1:0 1000000 65535 0.374 3.157 0.0935 0.374 ri
eu.amazon.nova-lite-v1:0 300000 10000 0.069 0.276 0.01725 0.069 i
eu.amazon.nova-micro-v1:0 128000 10000 0.04 0.16 0.01 0.04 -
eu.amazon.nova-pro-v1:0 300000 10000 0.92 3.68 0.23 0.92 i
eu.anthropic.claude-fable-5,us.anthropic.claude-fable-5 1000000 128000 11 55 1.1 13.75 ri
eu.anthropic.claude-opus-4-5-20251101-v1:0,us.anthropic.claude-opus-4-5-20251101-v1:0 200000 64000 5.5 27.5 0.55 6.875 ri
global.amazon.nova-2-lite-v1:0 1000000 65535 0.3 2.5 0.075 0.3 ri
global.anthropic.claude-sonnet-4-6 1000000 128000 3 15 0.3 3.75 ri
global.moonshotai.kimi-k3 1048576 128000 3 15 0.3 3.75 ri
global.moonshotai.kimi-k3.1 1048576 1048576 4 20 0.2 5 ri
global.openai.gpt-5.6-luna 1050000 128000 0.2 1.2 0.02 0.25 ri 272000 0.4 1.8 0.04 0.5
global.openai.gpt-5.6-sol 1050000 128000 4 20 0.4 5 ri 272000 8 30 0.8 10
global.openai.gpt-5.6-terra 1050000 128000 2 12 0.2 2.5 ri 272000 4 18 0.4 5
global.openai.gpt-6-astra 1050000 128000 10 50 1 12.5 ri 272000 20 75 2 25
global.openai.gpt-6-luna 1050000 128000 0.1 0.5 0.01 0.125 ri 272000 0.2 0.75 0.02 0.25
global.openai.gpt-6-sol 1050000 128000 2 10 0.2 2.5 ri 272000 4 15 0.4 5
global.openai.gpt-6.1-sol 1050000 128000 2 10 0.1 2.5 ri 272000 4 15 0.2 5
global.openai.gpt-6.1-terra 1050000 128000 1 5 0.05 1.25 ri 272000 2 7.5 0.1 2.5
global.xai.grok-4.6,global.xai.grok-4.7 500000 500000 2 6 0.5 0 ri
global.zai.glm-5.3 1000000 128000 1.68 5.28 0.312 2.1 r
google.gemma-4-26b-a4b 262144 32768 0.13 0.4 0 0 ri
google.gemma-4-31b 262144 32768 0.14 0.4 0 0 ri
google.gemma-4-e2b 131072 8192 0.04 0.08 0 0 ri
jp.amazon.nova-2-lite-v1:0 1000000 65535 0.396 3.311 0.099 0.396 ri
meta.llama3-1-70b-instruct-v1:0,meta.llama3-3-70b-instruct-v1:0 128000 4096 0.72 0.72 0 0 -
meta.llama3-1-8b-instruct-v1:0 128000 4096 0.22 0.22 0 0 -
meta.llama4-maverick-17b-instruct-v1:0 1000000 8192 0.24 0.97 0 0 i
meta.llama4-scout-17b-instruct-v1:0 10000000 8192 0.17 0.66 0 0 i
minimax.minimax-m2 204608 128000 0.3 1.2 0 0 r
minimax.minimax-m2.1 196608 131072 0.3 1.2 0 0 r
minimax.minimax-m2.5 196608 98304 0.3 1.2 0 0 r
mistral.devstral-2-123b 262144 8192 0.4 2 0 0 -
mistral.magistral-small-2509 128000 40000 0.5 1.5 0 0 ri
mistral.ministral-3-14b-instruct 128000 4096 0.2 0.2 0 0 i
mistral.ministral-3-3b-instruct 256000 8192 0.1 0.1 0 0 i
mistral.ministral-3-8b-instruct 128000 4096 0.15 0.15 0 0 i
mistral.mistral-large-3-675b-instruct 262144 8192 0.5 1.5 0 0 i
mistral.pixtral-large-2502-v1:0 128000 8192 2 6 0 0 i
mistral.voxtral-mini-3b-2507 32768 4096 0.04 0.04 0 0 -
mistral.voxtral-small-24b-2507 32768 8192 0.1 0.3 0 0 -
moonshot.kimi-k2-thinking 262144 16000 0.6 2.5 0 0 r
moonshotai.kimi-k2.5 262144 16384 0.6 3 0 0 ri
nvidia.nemotron-nano-12b-v2 131072 8192 0.2 0.6 0 0 i
nvidia.nemotron-nano-3-30b 262144 8192 0.06 0.24 0 0 r
nvidia.nemotron-nano-9b-v2 131072 8192 0.06 0.23 0 0 -
nvidia.nemotron-super-3-120b 262144 131072 0.15 0.65 0 0 r
openai.gpt-5.4 1000000 128000 2.75 16.5 0.275 0 ri
openai.gpt-5.5 1000000 128000 5.5 33 0.55 0 ri
openai.gpt-5.6-luna 1050000 128000 0.22 1.32 0.022 0.275 ri 272000 0.44 1.98 0.044 0.55
openai.gpt-5.6-sol 1050000 128000 4.4 22 0.44 5.5 ri 272000 8.8 33 0.88 11
openai.gpt-5.6-terra 1050000 128000 2.2 13.2 0.22 2.75 ri 272000 4.4 19.8 0.44 5.5
openai.gpt-6-astra 1050000 128000 11 55 1.1 13.75 ri 272000 22 82.5 2.2 27.5
openai.gpt-6-luna 1050000 128000 0.11 0.55 0.011 0.1375 ri 272000 0.22 0.825 0.022 0.275
openai.gpt-6-sol 1050000 128000 2.2 11 0.22 2.75 ri 272000 4.4 16.5 0.44 5.5
openai.gpt-6.1-sol 1050000 128000 2.2 11 0.11 2.75 ri 272000 4.4 16.5 0.22 5.5
openai.gpt-6.1-terra 1050000 128000 1.1 5.5 0.055 1.375 ri 272000 2.2 8.25 0.11 2.75
openai.gpt-oss-120b 131072 131072 0.15 0.6 0 0 r
openai.gpt-oss-120b-1:0 131072 128000 0.15 0.6 0 0 r
openai.gpt-oss-20b 131072 131072 0.07 0.3 0 0 r
openai.gpt-oss-20b-1:0 131072 128000 0.07 0.3 0 0 r
openai.gpt-oss-safeguard-120b 128000 16384 0.15 0.6 0 0 r
openai.gpt-oss-safeguard-20b 128000 16384 0.07 0.2 0 0 r
qwen.qwen3-235b-a22b-2507-v1:0 262144 131072 0.22 0.88 0 0 -
qwen.qwen3-32b-v1:0 32768 16384 0.15 0.6 0 0 r
qwen.qwen3-coder-30b-a3b-v1:0 262144 131072 0.15 0.6 0 0 -
qwen.qwen3-coder-480b-a35b-v1:0 131072 65536 0.45 1.8 0 0 -
qwen.qwen3-coder-next 262144 65536 0.5 1.2 0 0 -
qwen.qwen3-next-80b-a3b 262144 262000 0.15 1.2 0 0 -
qwen.qwen3-vl-235b-a22b 262144 262000 0.53 2.66 0 0 i
us-gov.openai.gpt-oss-120b-1:0 128000 16384 0.18 0.72 0 0 r
us-gov.openai.gpt-oss-20b-1:0 128000 16384 0.084 0.36 0 0 r
us.amazon.nova-premier-v1:0 1000000 10000 2.5 12.5 0.625 2.5 i
us.anthropic.claude-fable-5-1 1000000 128000 11 55 0.275 13.75 ri
us.anthropic.claude-fable-5-2 1000000 128000 8.8 44 0.22 11 ri
us.moonshotai.kimi-k3 1048576 128000 3.3 16.5 0.33 4.125 ri
us.moonshotai.kimi-k3.1 1048576 1048576 4.4 22 0.22 5.5 ri
us.xai.grok-4.7,xai.grok-4.6 500000 500000 2.2 6.6 0.55 0 ri
us.zai.glm-5.3 1000000 128000 1.848 5.808 0.3432 2.31 r
writer.palmyra-x4-v1:0 122880 8192 2.5 10 0 0 r
writer.palmyra-x5-v1:0 1040000 8192 0.6 6 0 0 r
xai.grok-4.3 1000000 131072 1.25 2.5 0.2 0 ri
zai.glm-4.7 202752 131072 0.6 2.2 0 0 r
zai.glm-4.7-flash 202752 131072 0.07 0.4 0 0 r
zai.glm-5 202752 131072 1 3.2 0 0 r
`,
  xai: `
grok-4.3 1000000 30000 1.25 2.5 0.2 0 ri 200000 2.5 5 0.4 0
grok-4.5 500000 500000 2 6 0.3 0 ri 200000 4 12 0.6 0
grok-4.6,grok-4.7 500000 500000 2 6 0.5 0 ri 200000 4 12 1 0
`,
  groq: `
llama-3.1-8b-instant 131072 131072 0.05 0.08 0 0 -
llama-3.3-70b-versatile 131072 32768 0.59 0.79 0 0 -
openai/gpt-oss-120b 131072 65536 0.15 0.6 0.075 0 r
openai/gpt-oss-20b,openai/gpt-oss-safeguard-20b 131072 65536 0.075 0.3 0.0375 0 r
qwen/qwen3.6-27b 131072 16384 0.6 3 0.3 0 ri
qwen/qwen3.8-27b 131072 16384 0.8 4 0 0 ri
`,
  mistral: `
codestral-2508 256000 8192 0.3 0.9 0.03 0 -
codestral-latest 256000 4096 0.3 0.9 0.03 0 -
deepseek-v4-1-flash-1017 1048576 128000 0.3 1.2 0.007 0 r
devstral-2512,devstral-latest,devstral-medium-latest 262144 262144 0.4 2 0.04 0 -
glm-5-2,zai-glm-5-2,zai-glm-5-3 1048576 131072 1.4 4.4 0.14 0 r
labs-devstral-small-2512 256000 256000 0 0 0 0 i
labs-leanstral-1-5-1 262144 128000 0 0 0 0 ri
magistral-medium-latest 262144 16384 2 5 0.2 0 ri
ministral-14b-2512 262144 262144 0.2 0.2 0.02 0 i
ministral-3b-2512 131072 262144 0.1 0.1 0.01 0 i
ministral-3b-latest 131072 128000 0.1 0.1 0.01 0 i
ministral-8b-2512 262144 262144 0.15 0.15 0.015 0 i
ministral-8b-latest 262144 128000 0.15 0.15 0.015 0 i
mistral-large-2512,mistral-large-latest 262144 262144 0.5 1.5 0.05 0 i
mistral-large-4,mistral-large-4-0-8 1048576 262144 0.7 2.1 0.07 0 ri
mistral-medium-2505 131072 131072 0.4 2 0.04 0 i
mistral-medium-2508 262144 262144 0.4 2 0.04 0 i
mistral-medium-2604,mistral-medium-latest 262144 262144 1.5 7.5 0.15 0 ri
mistral-medium-3.5 262144 262144 1.5 7.5 0 0 ri
mistral-small-2506 128000 16384 0.1 0.3 0.01 0 i
mistral-small-2603,mistral-small-latest 262144 256000 0.15 0.6 0.015 0 ri
open-mistral-nemo 128000 128000 0.15 0.15 0.015 0 -
pixtral-12b 128000 128000 0.15 0.15 0.015 0 i
voxtral-small-2507,voxtral-small-latest 32768 32000 0.1 0.4 0.01 0 -
zai-glm-5-3-flash 1048576 131072 0.15 0.5 0.03 0 ri
`,
  deepseek: `
deepseek-flash 1000000 384000 0.3 1.2 0.006 0 ri
deepseek-v4-pro 1000000 384000 1.32 3.96 0.044 0 r
`,
  cerebras: `
gpt-oss-120b 131072 40960 0.35 0.75 0.35 0 r
qwen-3.8-27b 131072 40960 0.99 1.49 0.99 0 ri
`,
  together: `
MiniMaxAI/MiniMax-M3 524288 524288 0.3 1.2 0.06 0 ri
Qwen/Qwen3.5-9B 262144 65536 0.17 0.25 0 0 ri
Qwen/Qwen3.6-Plus 1000000 65536 0.5 3 0 0 r
Qwen/Qwen3.7-Max 1000000 131072 2.5 7.5 0.5 0 r
deepseek-ai/DeepSeek-V4-Pro-0813 1048576 384000 1.32 3.96 0.13 0 r
deepseek-ai/DeepSeek-V4.1-Flash 1048576 384000 0.3 1.2 0.006 0 ri
meta-models/Muse-Spark-Open-816B-A42B 1048576 131072 1.25 4.25 0.15 0 ri
moonshotai/Kimi-K3 1048576 131072 3 15 0.3 0 ri
moonshotai/Kimi-K3.1-Pro 1048576 131072 2 10 0.2 0 ri
nvidia/NVIDIA-Nemotron-3.5-Super-VL 262144 262144 0.15 0.5 0.02 0 ri
openai/gpt-oss-120b 131072 131072 0.15 0.6 0 0 r
reflection/Beam-1.0-501B-A23B 1048576 131072 0.4 1.2 0.04 0 r
thinkingmachines/Inkling 524288 131072 1 4.05 0.17 0 ri
zai-org/GLM-5.2 1048575 164000 1.4 4.4 0.26 0 r
zai-org/GLM-5.3 1048575 262144 1.4 4.4 0.26 0 r
zai-org/GLM-5.3-Flash 1048575 400000 0.15 0.5 0.03 0 ri
`,
  fireworks: `
accounts/fireworks/models/deepseek-v4p1-flash,accounts/fireworks/models/deepseek-v4p1-flash-1017,accounts/fireworks/routers/deepseek-flash-latest 1000000 384000 0.3 1.2 0.006 0 ri
accounts/fireworks/models/ember-1,accounts/fireworks/models/kimi-k3,accounts/fireworks/routers/kimi-latest 1048576 131072 3 15 0.3 0 ri
accounts/fireworks/models/glm-5p3,accounts/fireworks/routers/glm-latest 1048573 262144 1.4 4.4 0.26 0 r
accounts/fireworks/models/glm-5p3-flash,accounts/fireworks/routers/glm-flash-latest 1048573 131072 0.15 0.5 0.03 0 ri
accounts/fireworks/models/kimi-k3p1-pro 1048576 131072 2 10 0.2 0 ri
accounts/fireworks/models/minimax-m3,accounts/fireworks/routers/minimax-latest 512000 512000 0.3 1.2 0.06 0 r
accounts/fireworks/models/minimax-m3p1-flash 1000000 512000 0.15 0.6 0.015 0 ri
accounts/fireworks/models/muse-spark-open 1048576 131072 1.25 4.25 0.15 0 ri
accounts/fireworks/models/qwen3p8-2p4t-a95b 262144 131072 2 6 0.25 0 r
accounts/fireworks/models/qwen3p8-max,accounts/fireworks/routers/qwen-max-latest 262144 131072 2 6 0.25 0 ri
accounts/fireworks/routers/deepseek-v4p1-flash-1017-spot,accounts/fireworks/routers/deepseek-v4p1-flash-spot 1000000 384000 0.21 0.84 0.0042 0 ri
accounts/fireworks/routers/deepseek-v4p1-flash-1017-ultrafast 1000000 384000 2.4 9.6 0.048 0 ri
accounts/fireworks/routers/glm-5p3-fast,accounts/fireworks/routers/glm-fast-latest 1048572 262144 2.1 6.6 0.39 0 r
accounts/fireworks/routers/glm-5p3-spot 1048573 262144 0.98 3.08 0.182 0 r
accounts/fireworks/routers/kimi-fast-latest,accounts/fireworks/routers/kimi-k3-fast 1048576 131072 4.5 22.5 0.45 0 ri
accounts/fireworks/routers/kimi-k3-spot 1048576 131072 2.1 10.5 0.21 0 ri
`,
  moonshot: `
kimi-k2.6 262144 262144 0.95 4 0.16 0 ri
kimi-k2.7-code 262144 262144 0.95 4 0.19 0 ri
kimi-k2.7-code-highspeed 262144 262144 1.9 8 0.38 0 ri
kimi-k3 1048576 1048576 3 15 0.3 0 ri
kimi-k3.1-pro 1048576 1048576 2 10 0.2 0 ri
kimi-k3.1-pro-highspeed 1048576 1048576 4 20 0.2 0 ri
`,
  kimi: `
kimi-k2.6 262144 262144 0.95 4 0.16 0 ri
kimi-k2.7-code 262144 262144 0.95 4 0.19 0 ri
kimi-k2.7-code-highspeed 262144 262144 1.9 8 0.38 0 ri
kimi-k3 1048576 1048576 3 15 0.3 0 ri
kimi-k3.1-pro 1048576 1048576 2 10 0.2 0 ri
kimi-k3.1-pro-highspeed 1048576 1048576 4 20 0.2 0 ri
`,
  minimax: `
MiniMax-M2.7 204800 131072 0.3 1.2 0.06 0.375 r
MiniMax-M2.7-highspeed 204800 131072 0.6 2.4 0.06 0.375 r
MiniMax-M3 1000000 524288 0.3 1.2 0.06 0 ri 512000 0.6 2.4 0.12 0
MiniMax-M3.1-Flash 1000000 524288 0.15 0.6 0.015 0 ri
`,
  zai: `
glm-4.7 204800 131072 0.6 2.2 0.11 0 r
glm-5-turbo 200000 131072 1.2 4 0.24 0 r
glm-5.2,glm-5.3 1000000 131072 1.4 4.4 0.26 0 r
glm-5.2-highspeed,glm-5.3-highspeed 1000000 131072 0 0 0 0 r
glm-5.3-flash 1000000 131072 0.15 0.5 0.03 0 ri
`,
}
