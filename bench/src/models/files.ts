/** What runs of models write into the folder of their device: by the name of the command. */
export const MODEL_FILES = {
  gpt: { results: 'gpt.json', table: 'gpt.md' },
  resnet: { results: 'resnet.json', table: 'resnet.md' },
} as const;
