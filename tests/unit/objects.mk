# SPDX-License-Identifier: GPL-2.0-only
# The core, the library and the parts of the program with sanitizers, for the Makefiles of tests/unit, tests/thread
# and tests/fuzz. TOP is the top of the tree, OPTIMIZE a level; objects go to build/tests.

OUT := $(TOP)/build/tests
CC ?= gcc
ifneq ($(CROSS_COMPILE),)
AR := $(CROSS_COMPILE)ar
endif
OPTIMIZE ?= -O1

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wno-missing-field-initializers -Werror
CFLAGS := $(OPTIMIZE) -g -std=gnu11 -D_GNU_SOURCE $(WARN) $(SANITIZE) -MMD -MP
CFLAGS += -I$(TOP)/ioctl-api/include -I$(TOP)/ioctl-api -I$(TOP)/userspace/include -I$(TOP)/userspace -I$(TOP)
PACKAGES := libzstd zlib libsodium libnl-genl-3.0 libnl-3.0 liburcu-cds liburcu
CFLAGS += $(shell pkg-config --cflags $(PACKAGES))
# Most tests use a few of them only.
LIBS := -Wl,--as-needed $(shell pkg-config --libs $(PACKAGES)) -lpthread -lm
ifneq ($(if $(CROSS_COMPILE),,$(shell command -v otf2-config)),) # the program is one of this machine
CFLAGS += -DIOTAPE_HAS_OTF2 $(shell otf2-config --cflags)
LIBS += $(shell otf2-config --ldflags --libs)
endif
ifeq ($(shell pkg-config --exists libdw && echo yes),yes)
CFLAGS += -DIOTAPE_HAS_LIBDW
LIBS += $(shell pkg-config --libs libdw) -lelf
endif
# Workloads in XML.
ifeq ($(shell pkg-config --exists libxml-2.0 && echo yes),yes)
CFLAGS += -DIOTAPE_HAS_LIBXML2 $(shell pkg-config --cflags libxml-2.0)
LIBS += $(shell pkg-config --libs libxml-2.0)
endif
SCHEMA := $(OUT)/obj/userspace/pattern/language/schema_text.o
STRICT := -Wconversion # the core is also compiled for the kernel, and must have the same meaning there

CORE := $(wildcard $(addprefix $(TOP)/ioctl-api/core/,*.c trace/*.c replay/*.c))
LIB := $(wildcard $(TOP)/userspace/lib/*.c $(TOP)/userspace/api/*.c)
# A test is linked with what it uses of these, directly or not.
PROGRAM_PARTS := $(wildcard $(patsubst %,$(TOP)/userspace/%/*.c,advise analyse/* anonymize collectord compile discover export filter import merge \
	mix pattern pattern/* record replay report seal snapshot symbols) $(TOP)/tools/*.c)
LIBRARY := $(OUT)/obj/program.a $(OUT)/obj/libiotape.a

object = $(patsubst $(TOP)/%.c,$(OUT)/obj/%.o,$(1))

Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)  $(notdir $@)")

$(OUT)/obj/libiotape.a: $(call object,$(CORE) $(LIB))
$(OUT)/obj/program.a: $(call object,$(PROGRAM_PARTS)) $(SCHEMA)
$(LIBRARY):
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(call object,$(wildcard $(TOP)/userspace/pattern/language/xml_*.c)): $(TOP)/tests/unit/objects.mk
$(SCHEMA:.o=.c): $(TOP)/userspace/pattern/language/workload.xsd
	$(Q)mkdir -p $(dir $@)
	$(Q){ echo 'extern const char pattern_schema[];'; echo 'const char pattern_schema[] ='; \
		sed -e '/SPDX-License-Identifier/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $<; echo ';'; } >$@

$(SCHEMA): $(SCHEMA:.o=.c)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

$(OUT)/obj/ioctl-api/core/%.o: CFLAGS += $(STRICT)

$(OUT)/obj/%.o: $(TOP)/%.c
	$(call say,CC)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
