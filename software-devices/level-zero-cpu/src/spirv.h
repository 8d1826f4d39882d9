/* SPIR-V modules: read, edited, checked, and what happens to one on its way to PoCL. */
#ifndef SPIRV_H
#define SPIRV_H

#include "engine.h"

#include <spirv/unified1/spirv.h>

/* A SPIR-V module as words, and the look-ups that every pass needs. */
typedef struct {
    uint32_t *words;       /* owned */
    size_t count;          /* of words, the header of 5 included */
    uint32_t bound;        /* ids are below */
    uint32_t *definitions; /* by id: index of the word where its instruction starts, or 0; owned */
} spirv_module;

typedef enum { SPIRV_OK, SPIRV_BAD, SPIRV_NO_MEMORY } spirv_status;

/*
 * Copies the module in the byte order of this machine and finds where each id is defined.
 * Checks the header and that the instructions fill the words exactly; SPIRV_BAD with a line in `reason` if not.
 */
spirv_status spirv_read(spirv_module *module, const void *bytes, size_t byte_count, char *reason, size_t reason_bytes);
void spirv_free(spirv_module *module);

/* Finds definitions anew after words were changed. False without memory. */
bool spirv_index(spirv_module *module);

static inline uint16_t spirv_opcode(const uint32_t *instruction) { return (uint16_t)(instruction[0] & 0xffff); }
static inline uint16_t spirv_length(const uint32_t *instruction) { return (uint16_t)(instruction[0] >> 16); }

/* The first instruction, and one past the last. */
static inline uint32_t *spirv_first(const spirv_module *module) { return module->words + 5; }
static inline uint32_t *spirv_end(const spirv_module *module) { return module->words + module->count; }

/* Walks the instructions of a module. */
#define SPIRV_EACH(at, module)                                                                                         \
    for (const uint32_t *at = spirv_first(module), *end_ = spirv_end(module); at < end_; at += spirv_length(at))

/* The instruction that defines an id, NULL where none does. */
static inline uint32_t *spirv_definition(const spirv_module *module, uint32_t id)
{
    return id < module->bound && module->definitions[id] ? module->words + module->definitions[id] : NULL;
}

/* True for a call of an import, or of another function. Only imports have no body. */
static inline bool spirv_calls(const spirv_module *module, const uint32_t *instruction, bool import)
{
    if (spirv_opcode(instruction) != SpvOpFunctionCall) return false;
    const uint32_t *of = spirv_definition(module, instruction[3]);
    do of += spirv_length(of);
    while (spirv_opcode(of) == SpvOpFunctionParameter);
    return (spirv_opcode(of) == SpvOpFunctionEnd) == import;
}

/* A literal string inside an instruction; valid as long as the module's words are. */
static inline const char *spirv_text(const uint32_t *words) { return (const char *)words; }

/* Which words of an instruction hold its result type and its result, 0 where it has none. */
void spirv_result_words(uint16_t opcode, unsigned *type_word, unsigned *result_word);

/* Value of an integer constant that is known before the run (OpConstant, OpSpecConstant); false for anything else. */
bool spirv_integer(const spirv_module *module, uint32_t id, uint64_t *value);

/* The size of a type as OpenCL lays it out in memory. */
typedef struct {
    uint64_t bytes; /* a multiple of the alignment; 0 for what has no size, such as opaque types */
    uint64_t alignment;
} spirv_layout;

spirv_layout spirv_layout_of(const spirv_module *module, uint32_t type);

/* Changing a module: a copy grows in parts, in which things can be declared and functions written as assembly text. */

typedef struct {
    uint32_t *words;
    size_t count, room;
    bool failed; /* no memory: words are missing from here on */
} spirv_words;

typedef struct {
    const spirv_module *module;
    uint32_t bound;           /* of the copy */
    spirv_words preamble;     /* up to the decorations */
    spirv_words declarations; /* types, constants, variables of the module, then the added ones */
    spirv_words bodies;       /* the module's functions */
    spirv_words functions;    /* added ones */
    engine_log *log;
    bool failed; /* something else than memory went wrong; the log says what */
} spirv_edit;

void spirv_append(spirv_words *list, const uint32_t *words, size_t count);
void spirv_emit(spirv_words *list, uint16_t opcode, unsigned operand_count, const uint32_t *operands);

uint32_t spirv_new_id(spirv_edit *edit);

/* The id of a type or constant with these operands (those after its result), declared where the copy has none yet. */
uint32_t spirv_declare_type(spirv_edit *edit, uint16_t opcode, unsigned operand_count, const uint32_t *operands);
uint32_t spirv_declare_constant(spirv_edit *edit, uint16_t opcode, uint32_t type, unsigned word_count,
                                const uint32_t *words);

/* The replacement of a name in a text: %name for an id, $name for text in which names are replaced as well. Other %names
 * get new ids. */
typedef struct {
    const char *name;
    uint32_t id;
    const char *text;
} spirv_symbol;

/* Appends functions written as assembly text. */
void spirv_write_function(spirv_edit *edit, const char *text, unsigned symbol_count, const spirv_symbol *symbols);

/* Puts the copy in the module's place, or frees it where the edit failed. */
spirv_status spirv_finish_edit(spirv_edit *edit, spirv_module *module);

/* The use of SPIRV-Tools in this driver. */

/* SPIRV_BAD with what is wrong, and where, in the log. Needs a big stack for deeply nested modules. */
spirv_status spirv_validate(const spirv_module *module, engine_log *log);

/* Assembles text whose ids are numbers. The words, without a header, are the caller's to free; NULL with a line in the
 * log. */
uint32_t *spirv_assemble(const char *text, size_t *count, engine_log *log);

/* One instruction: which of its words are ids that it uses, those of its result and of its type not included. */
typedef void (*spirv_instruction_see)(void *state, const uint32_t *at, const uint16_t *id_words, unsigned id_count);

/* Shows all instructions of a valid module in their order. SPIRV_BAD where the module is not valid. */
spirv_status spirv_walk(const spirv_module *module, spirv_instruction_see see, void *state);

/* Such as "OpTypeImage"; stays valid. */
const char *spirv_opcode_name(uint16_t opcode);

/* What happens to a module on its way to PoCL. All take modules that are valid, and SPIRV_BAD comes with a line in the log. */

/*
 * Refuses valid SPIR-V that cannot run on PoCL: found here, as there it would end the process or fail without a word. The
 * line is about the first such thing.
 */
spirv_status spirv_check(const spirv_module *module, engine_log *log);

/*
 * Says what may run wrong without an error: a function that returns on one path and has a barrier further on. PoCL
 * takes it that all items of a group reach a barrier or none does, as the OpenCL specification says.
 */
void spirv_warn(const spirv_module *module, engine_log *log);

/*
 * Specialisation: sets each constant whose SpecId the module has; other ids are ignored. A value is read in the size of its constant:
 * one byte for bool, 1, 2, 4 or 8 bytes for numbers.
 */
void spirv_specialize(spirv_module *module, const ze_module_constants_t *constants);

/*
 * Workgroup variables of the functions that sub-groups are emulated by. PoCL makes memory of every work-group's own of the
 * variables that a kernel's own function mentions; what only a called function mentions is one memory for all groups,
 * also of those that run at the same time. So the kernels are made to mention them all, and functions get them as parameters.
 */
spirv_status spirv_pass_locals(spirv_module *module, engine_log *log);

/*
 * Describes every kernel, in the module's order: name, arguments, group size, memory. The array, its names and arguments are one block that the caller frees
 * by `free`. SPIRV_BAD with a line in `reason` for an argument that no value can be given for.
 */
spirv_status spirv_reflect(const spirv_module *module, engine_kernel_info **kernels, uint32_t *count, char *reason,
                           size_t reason_bytes);

/* The group size that a kernel is for, by the execution modes of its function; left alone where there are none. */
void spirv_required_group(const spirv_module *module, uint32_t function, uint32_t group[3]);

enum { SPIRV_KERNEL_NAME_BYTES = 16, SPIRV_MAX_KERNELS = 4096 };

/* The number of the first entry point that has the same function as this one: the two are one kernel to PoCL. */
uint32_t spirv_kernel_number(const spirv_module *module, uint32_t number);

/* The name that an adapted module has for the kernel of a number. */
void spirv_kernel_name(uint32_t number, char name[SPIRV_KERNEL_NAME_BYTES]);

/* Rewrites code that the translator to LLVM crashes on; kernels get names by their numbers. SPIRV_NO_MEMORY or SPIRV_OK. */
spirv_status spirv_adapt(spirv_module *module);

/* Finds an llvm-spirv whose bitcode this LLVM reads. NULL where none is installed; else a path that stays valid. */
const char *spirv_find_translator(unsigned llvm_major);

/*
 * SPIR-V to LLVM bitcode, by the llvm-spirv program in its own process, as it crashes on much. SPIRV_BAD, with its words in
 * the log, when it fails, crashes, or takes longer than a minute.
 */
spirv_status spirv_translate(const spirv_module *module, const char *translator, unsigned char **bitcode, size_t *bytes,
                             engine_log *log);

#endif
