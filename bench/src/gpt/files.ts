/** What a run of `bench gpt` writes into the folder of its device. */
export const GPT_FILES = { results: 'gpt.json', table: 'gpt.md' } as const;
